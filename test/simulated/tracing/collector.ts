import { Server, ServerCredentials } from '@grpc/grpc-js';
import { BinaryReader } from '@bufbuild/protobuf/wire';

/** A span as a collector gets it. */
export interface SeenSpan {
  name: string;
  scope: string;
  /** 1 internal, 2 server, 3 client. */
  kind: number;
  traceId: string;
  spanId: string;
  parentId: string;
  attributes: Record<string, unknown>;
  events: { name: string; attributes: Record<string, unknown> }[];
  /** 2 is an error. */
  status: number;
  message: string;
  seconds: number;
  resource: Record<string, unknown>;
}

/** A collector of OTLP over gRPC. */
export interface Collector {
  endpoint: string;
  spans: SeenSpan[];
  stop(): void;
}

/** Starts it on a free port. */
export async function startCollector(): Promise<Collector> {
  const spans: SeenSpan[] = [];
  const server = new Server();
  server.addService(
    {
      export: {
        path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
        requestStream: false,
        responseStream: false,
        requestSerialize: () => Buffer.alloc(0),
        requestDeserialize: (bytes: Buffer) => decode(bytes),
        responseSerialize: () => Buffer.alloc(0),
        responseDeserialize: () => null,
      },
    },
    {
      export: (call: { request: SeenSpan[] }, callback: (error: null, answer: object) => void) => {
        spans.push(...call.request);
        callback(null, {});
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { endpoint: `127.0.0.1:${port}`, spans, stop: () => server.forceShutdown() };
}

/** Reads the numbered fields of one message. */
function fields(bytes: Uint8Array, read: Record<number, (reader: BinaryReader) => void>): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    const take = read[field];
    if (take === undefined) reader.skip(wire);
    else take(reader);
  }
}

function decode(request: Uint8Array): SeenSpan[] {
  const out: SeenSpan[] = [];
  fields(request, {
    1: (all) => {
      let resource: Record<string, unknown> = {};
      const scopes: Uint8Array[] = [];
      fields(all.bytes(), {
        1: (reader) => (resource = attributesOf(reader.bytes(), 1)),
        2: (reader) => scopes.push(reader.bytes()),
      });
      for (const one of scopes) {
        let scope = '';
        fields(one, {
          1: (reader) => fields(reader.bytes(), { 1: (name) => (scope = name.string()) }),
          2: (reader) => out.push(spanOf(reader.bytes(), scope, resource)),
        });
      }
    },
  });
  return out;
}

function spanOf(bytes: Uint8Array, scope: string, resource: Record<string, unknown>): SeenSpan {
  const span: SeenSpan = {
    ...{
      name: '',
      scope,
      kind: 0,
      traceId: '',
      spanId: '',
      parentId: '',
      status: 0,
      message: '',
      seconds: 0,
      resource,
    },
    attributes: attributesOf(bytes, 9),
    events: [],
  };
  let from = 0n;
  let to = 0n;
  fields(bytes, {
    1: (reader) => (span.traceId = Buffer.from(reader.bytes()).toString('hex')),
    2: (reader) => (span.spanId = Buffer.from(reader.bytes()).toString('hex')),
    4: (reader) => (span.parentId = Buffer.from(reader.bytes()).toString('hex')),
    5: (reader) => (span.name = reader.string()),
    6: (reader) => (span.kind = reader.int32()),
    7: (reader) => (from = BigInt(reader.fixed64())),
    8: (reader) => (to = BigInt(reader.fixed64())),
    11: (reader) => {
      const event = reader.bytes();
      let name = '';
      fields(event, { 2: (text) => (name = text.string()) });
      span.events.push({ name, attributes: attributesOf(event, 3) });
    },
    15: (reader) =>
      fields(reader.bytes(), {
        2: (text) => (span.message = text.string()),
        3: (code) => (span.status = code.int32()),
      }),
  });
  span.seconds = Number(to - from) / 1e9;
  return span;
}

/** The key-value pairs in a repeated field of a message. */
function attributesOf(bytes: Uint8Array, field: number): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  fields(bytes, {
    [field]: (reader) => {
      let key = '';
      let value: unknown;
      fields(reader.bytes(), {
        1: (text) => (key = text.string()),
        2: (any) =>
          fields(any.bytes(), {
            1: (text) => (value = text.string()),
            2: (truth) => (value = truth.bool()),
            3: (number) => (value = Number(number.int64())),
            4: (number) => (value = number.double()),
          }),
      });
      out[key] = value;
    },
  });
  return out;
}
