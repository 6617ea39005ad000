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
import { Component } from 'preact';
/**
 * A part that is drawn again only when one of its props is another one. For rows of long lists: what it draws must come
 * from its props alone, since it does not hear of signals.
 */
export function memo(draw) {
  return /** @class */ (function (_super) {
    __extends(Memo, _super);
    function Memo() {
      return (_super !== null && _super.apply(this, arguments)) || this;
    }
    Memo.prototype.shouldComponentUpdate = function (next) {
      var now = this.props;
      return Object.keys(next).some(function (key) {
        return next[key] !== now[key];
      });
    };
    Memo.prototype.render = function () {
      return draw(this.props);
    };
    return Memo;
  })(Component);
}
