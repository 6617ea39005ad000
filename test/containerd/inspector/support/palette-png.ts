import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS = 256;
/** Grounds of the page differ by (5, 5, 5) and more. */
const ALIKE = 3 * 4 ** 2;

/** Rows of 8-bit samples without their filters. */
interface Pixels {
  width: number;
  height: number;
  /** Bytes of a pixel: 3 (RGB) or 4 (RGBA). */
  size: number;
  bytes: Buffer;
}

/**
 * A screenshot with 256 colours, about half as large: frequent ones stay as they are, others (the edges of letters)
 * become the nearest of them. Takes 8-bit RGB or RGBA, not interlaced, as browsers write it; opaque.
 */
export function palettePng(png: Uint8Array): Buffer {
  const { width, height, size, bytes } = readPixels(Buffer.from(png));
  const counts = new Map<number, number>();
  const colourAt = (at: number) => bytes.readUIntBE(at, 3);
  for (let at = 0; at < bytes.length; at += size) {
    const colour = colourAt(at);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = choose([...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour));
  const places = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour)]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let i = 0; i < width * height; i++) {
    // Each row starts with its filter: none, which suits palettes.
    rows[i + Math.floor(i / width) + 1] = places.get(colourAt(i * size)) ?? 0;
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((c) => [c >> 16, (c >> 8) & 255, c & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The most frequent colours, without those that are nearly another one: so rare accents have a place, too. */
function choose(colours: readonly number[]): number[] {
  const palette: number[] = [];
  for (const colour of colours) {
    if (palette.length === COLOURS) break;
    const near = palette[nearest(palette, colour)];
    if (near === undefined || distance(near, colour) >= ALIKE) palette.push(colour);
  }
  return palette;
}

function nearest(palette: readonly number[], colour: number): number {
  let best = 0;
  let least = Infinity;
  palette.forEach((other, place) => {
    const far = distance(other, colour);
    if (far < least) [least, best] = [far, place];
  });
  return best;
}

/** Square of the distance in RGB. */
function distance(a: number, b: number): number {
  return ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

function readPixels(png: Buffer): Pixels {
  if (!png.subarray(0, 8).equals(SIGNATURE)) throw new Error('not a PNG');
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const size = new Map([
    [2, 3],
    [6, 4],
  ]).get(png[25] ?? 0);
  if (png[24] !== 8 || size === undefined || png[28] !== 0) throw new Error('not 8-bit RGB or RGBA');
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const raw = inflateSync(Buffer.concat(parts));
  const line = width * size;
  const bytes = Buffer.alloc(line * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (line + 1)] ?? 0;
    for (let x = 0; x < line; x++) {
      const here = y * line + x;
      const left = x >= size ? (bytes[here - size] ?? 0) : 0;
      const up = y > 0 ? (bytes[here - line] ?? 0) : 0;
      const corner = x >= size && y > 0 ? (bytes[here - line - size] ?? 0) : 0;
      bytes[here] = (raw[y * (line + 1) + 1 + x] ?? 0) + foretold(filter, left, up, corner);
    }
  }
  return { width, height, size, bytes };
}

/** PNG's filters 0 to 4 (RFC 2083, section 6): what a sample is told relative to. */
function foretold(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const [a, b, c] = [left, up, corner].map((v) => Math.abs(left + up - corner - v)) as [number, number, number];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
