var __extends =
  (this && this.__extends) ||
  (function () {
    var extendStatics = function (d, b) {
      extendStatics =
        Object.setPrototypeOf ||
        ({ __proto__: [] } instanceof Array &&
          function (d, b) {
            d.__proto__ = b;
          }) ||
        function (d, b) {
          for (var p in b) if (Object.prototype.hasOwnProperty.call(b, p)) d[p] = b[p];
        };
      return extendStatics(d, b);
    };
    return function (d, b) {
      if (typeof b !== 'function' && b !== null)
        throw new TypeError('Class extends value ' + String(b) + ' is not a constructor or null');
      extendStatics(d, b);
      function __() {
        this.constructor = d;
      }
      d.prototype = b === null ? Object.create(b) : ((__.prototype = b.prototype), new __());
    };
  })();
var __assign =
  (this && this.__assign) ||
  function () {
    __assign =
      Object.assign ||
      function (t) {
        for (var s, i = 1, n = arguments.length; i < n; i++) {
          s = arguments[i];
          for (var p in s) if (Object.prototype.hasOwnProperty.call(s, p)) t[p] = s[p];
        }
        return t;
      };
    return __assign.apply(this, arguments);
  };
var __awaiter =
  (this && this.__awaiter) ||
  function (thisArg, _arguments, P, generator) {
    function adopt(value) {
      return value instanceof P
        ? value
        : new P(function (resolve) {
            resolve(value);
          });
    }
    return new (P || (P = Promise))(function (resolve, reject) {
      function fulfilled(value) {
        try {
          step(generator.next(value));
        } catch (e) {
          reject(e);
        }
      }
      function rejected(value) {
        try {
          step(generator['throw'](value));
        } catch (e) {
          reject(e);
        }
      }
      function step(result) {
        result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected);
      }
      step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
  };
var __generator =
  (this && this.__generator) ||
  function (thisArg, body) {
    var _ = {
        label: 0,
        sent: function () {
          if (t[0] & 1) throw t[1];
          return t[1];
        },
        trys: [],
        ops: [],
      },
      f,
      y,
      t,
      g = Object.create((typeof Iterator === 'function' ? Iterator : Object).prototype);
    return (
      (g.next = verb(0)),
      (g['throw'] = verb(1)),
      (g['return'] = verb(2)),
      typeof Symbol === 'function' &&
        (g[Symbol.iterator] = function () {
          return this;
        }),
      g
    );
    function verb(n) {
      return function (v) {
        return step([n, v]);
      };
    }
    function step(op) {
      if (f) throw new TypeError('Generator is already executing.');
      while ((g && ((g = 0), op[0] && (_ = 0)), _))
        try {
          if (
            ((f = 1),
            y &&
              (t = op[0] & 2 ? y['return'] : op[0] ? y['throw'] || ((t = y['return']) && t.call(y), 0) : y.next) &&
              !(t = t.call(y, op[1])).done)
          )
            return t;
          if (((y = 0), t)) op = [op[0] & 2, t.value];
          switch (op[0]) {
            case 0:
            case 1:
              t = op;
              break;
            case 4:
              _.label++;
              return { value: op[1], done: false };
            case 5:
              _.label++;
              y = op[1];
              op = [0];
              continue;
            case 7:
              op = _.ops.pop();
              _.trys.pop();
              continue;
            default:
              if (!((t = _.trys), (t = t.length > 0 && t[t.length - 1])) && (op[0] === 6 || op[0] === 2)) {
                _ = 0;
                continue;
              }
              if (op[0] === 3 && (!t || (op[1] > t[0] && op[1] < t[3]))) {
                _.label = op[1];
                break;
              }
              if (op[0] === 6 && _.label < t[1]) {
                _.label = t[1];
                t = op;
                break;
              }
              if (t && _.label < t[2]) {
                _.label = t[2];
                _.ops.push(op);
                break;
              }
              if (t[2]) _.ops.pop();
              _.trys.pop();
              continue;
          }
          op = body.call(thisArg, _);
        } catch (e) {
          op = [6, e];
          y = 0;
        } finally {
          f = t = 0;
        }
      if (op[0] & 5) throw op[1];
      return { value: op[0] ? op[1] : void 0, done: true };
    }
  };
/** An answer of the server that is no success. */
var ServerError = /** @class */ (function (_super) {
  __extends(ServerError, _super);
  function ServerError(status, message) {
    var _this = _super.call(this, message) || this;
    _this.status = status;
    return _this;
  }
  return ServerError;
})(Error);
export { ServerError };
function get(path, signal) {
  return __awaiter(this, void 0, void 0, function () {
    var response, text, body, _a;
    return __generator(this, function (_b) {
      switch (_b.label) {
        case 0:
          return [
            4 /*yield*/,
            fetch(path, __assign({ headers: { accept: 'application/json' } }, signal ? { signal: signal } : {})),
          ];
        case 1:
          response = _b.sent();
          if (!response.ok) return [3 /*break*/, 3];
          return [4 /*yield*/, response.json()];
        case 2:
          return [2 /*return*/, _b.sent()];
        case 3:
          text = response.statusText;
          _b.label = 4;
        case 4:
          _b.trys.push([4, 6, , 7]);
          return [4 /*yield*/, response.json()];
        case 5:
          body = _b.sent();
          if (typeof body.error === 'string') text = body.error;
          return [3 /*break*/, 7];
        case 6:
          _a = _b.sent();
          return [3 /*break*/, 7];
        case 7:
          throw new ServerError(response.status, text === '' ? 'HTTP '.concat(String(response.status)) : text);
      }
    });
  });
}
var pod = function (uid) {
  return 'api/pods/'.concat(encodeURIComponent(uid));
};
/** The server's answers; addresses are relative to the page, so that it can live below any path. */
export var server = {
  about: function () {
    return get('api/about');
  },
  pods: function () {
    return get('api/pods');
  },
  /** Null, too, of a server that does not know of it. */
  node: function () {
    return get('api/node').then(
      function (_a) {
        var node = _a.node;
        return node;
      },
      function (error) {
        if (error instanceof ServerError && error.status === 404) return null;
        throw error;
      },
    );
  },
  /** `at` null: of the newest moment. */
  overview: function (at) {
    return get('api/overview'.concat(at === null ? '' : '?at='.concat(String(at))));
  },
  steps: function (uid, from, limit) {
    return get(''.concat(pod(uid), '/steps?from=').concat(String(from), '&limit=').concat(String(limit)));
  },
  detail: function (uid, index, signal) {
    return get(''.concat(pod(uid), '/steps/').concat(String(index)), signal);
  },
  explain: function (uid, index, signal) {
    return get(''.concat(pod(uid), '/explain?index=').concat(String(index)), signal);
  },
};
/** Address of the live messages. */
export function liveAddress() {
  var address = new URL('api/live', document.baseURI);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  return address.href;
}
