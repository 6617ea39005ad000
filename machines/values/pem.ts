const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** Characters in a line of base64, as Go's `encoding/pem` and OpenSSL write it. */
const LINE = 64;

/**
 * What the PEM blocks of a text hold, as base64 in one line each and in their order, whatever their types are. Headers, what stands
 * between blocks and blocks that are broken are passed over, as by Go's `pem.Decode`.
 */
export function pemBlocks(text: string): string[] {
  const blocks: string[] = [];
  let open: { type: string; body: string[] } | null = null;
  for (const raw of text.split('\n')) {
    const line = raw.trimEnd();
    if (line.startsWith(BEGIN)) {
      const type = line.slice(BEGIN.length, -DASHES.length);
      open = line.endsWith(DASHES) && line.length >= BEGIN.length + DASHES.length ? { type, body: [] } : null;
    } else if (open !== null && line.startsWith(END)) {
      const body = open.body.join('');
      const closed = line === `${END}${open.type}${DASHES}`;
      if (closed && body.length % 4 === 0 && BASE64.test(body)) blocks.push(body);
      open = null;
    } else if (open !== null && !(open.body.length === 0 && line.includes(':'))) {
      open.body.push(line.replaceAll(' ', '').replaceAll('\t', ''));
    }
  }
  return blocks;
}

/** PEM of certificates that are given as base64. */
export function certificatesPem(blocks: readonly string[]): string {
  return blocks.map((block) => `${BEGIN}CERTIFICATE${DASHES}\n${lines(block)}${END}CERTIFICATE${DASHES}\n`).join('');
}

function lines(base64: string): string {
  let out = '';
  for (let at = 0; at < base64.length; at += LINE) out += `${base64.slice(at, at + LINE)}\n`;
  return out;
}
