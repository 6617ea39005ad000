/** How much of a file {@link sniffType} looks at, bytes. */
export const SNIFF_BYTES = 512;

const htmlTags = ['!DOCTYPE HTML', 'HTML', 'HEAD', 'SCRIPT', 'IFRAME', 'H1', 'DIV', 'FONT', 'TABLE', 'A', 'STYLE'];
// eslint-disable-next-line no-restricted-syntax -- made of the constants above
const html = new RegExp(`^<(?:${[...htmlTags, 'TITLE', 'BODY', 'BR', 'B', 'P', '!--'].join('|')})[ >]`, 'i');

/** Signatures of the WHATWG's MIME sniffing in its order; `.` is any byte. */
const signatures: readonly [signature: RegExp, type: string][] = [
  [/^%PDF-/, 'application/pdf'],
  [/^%!PS-Adobe-/, 'application/postscript'],
  [/^\xFE\xFF../s, 'text/plain; charset=utf-16be'],
  [/^\xFF\xFE../s, 'text/plain; charset=utf-16le'],
  [/^\xEF\xBB\xBF./s, 'text/plain; charset=utf-8'],
  [/^\0\0[\x01\x02]\0/, 'image/x-icon'],
  [/^BM/, 'image/bmp'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBPVP/s, 'image/webp'],
  [/^\x89PNG\r\n\x1A\n/, 'image/png'],
  [/^\xFF\xD8\xFF/, 'image/jpeg'],
  [/^FORM.{4}AIFF/s, 'audio/aiff'],
  [/^ID3/, 'audio/mpeg'],
  [/^OggS\0/, 'application/ogg'],
  [/^MThd\0\0\0\x06/, 'audio/midi'],
  [/^RIFF.{4}AVI /s, 'video/avi'],
  [/^RIFF.{4}WAVE/s, 'audio/wave'],
];

/** The same, after mp4, whose signature has a length in it. */
const laterSignatures: readonly [signature: RegExp, type: string][] = [
  [/^\x1A\x45\xDF\xA3/, 'video/webm'],
  [/^.{34}LP/s, 'application/vnd.ms-fontobject'],
  [/^\0\x01\0\0/, 'font/ttf'],
  [/^OTTO/, 'font/otf'],
  [/^ttcf/, 'font/collection'],
  [/^wOFF/, 'font/woff'],
  [/^wOF2/, 'font/woff2'],
  [/^\x1F\x8B\x08/, 'application/x-gzip'],
  [/^PK\x03\x04/, 'application/zip'],
  [/^Rar!\x1A\x07(?:\0|\x01\0)/, 'application/x-rar-compressed'],
  [/^\0asm/, 'application/wasm'],
];

/** The content type of a file by its first bytes, as Go's `DetectContentType` tells it. */
export function sniffType(bytes: Buffer): string {
  // Each byte as one character, so that patterns can speak of bytes.
  const text = bytes.toString('latin1', 0, SNIFF_BYTES);
  const start = text.replace(/^[\t\n\f\r ]+/, '');
  if (html.test(start)) return 'text/html; charset=utf-8';
  if (start.startsWith('<?xml')) return 'text/xml; charset=utf-8';
  const find = (list: typeof signatures): string | undefined => list.find(([signature]) => signature.test(text))?.[1];
  const found = find(signatures) ?? (isMp4(bytes.subarray(0, SNIFF_BYTES)) ? 'video/mp4' : find(laterSignatures));

  return (
    found ?? (/[\0-\x08\x0B\x0E-\x1A\x1C-\x1F]/.test(start) ? 'application/octet-stream' : 'text/plain; charset=utf-8')
  );
}

function isMp4(bytes: Buffer): boolean {
  if (bytes.length < 12) return false;
  const boxSize = bytes.readUInt32BE(0);
  if (bytes.length < boxSize || boxSize % 4 !== 0 || bytes.toString('latin1', 4, 8) !== 'ftyp') return false;
  for (let at = 8; at < boxSize; at += 4) if (at !== 12 && bytes.toString('latin1', at, at + 3) === 'mp4') return true;
  return false;
}
