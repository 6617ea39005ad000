/** A difference from the reference that is meant. */
export interface AllowedDifference {
  /** Of `METHOD path`. */
  where: RegExp;
  /** What may be another: the status, the content type, a header or the body. */
  what: readonly ('status' | 'contentType' | 'headers' | 'body')[];
  why: string;
}

export const ALLOWED_DIFFERENCES: readonly AllowedDifference[] = [
  {
    where: /^GET \/debug\/pprof\/(cmdline|none)$/,
    what: ['body', 'contentType'],
    why: 'profiles are those of the language the agent is written in',
  },
  {
    where: /^(GET|POST|PUT|PATCH|DELETE|OPTIONS|HEAD) \/actorlet(\/|$)/,
    what: ['status', 'contentType', 'headers', 'body'],
    why: 'pages that only actorlet has',
  },
];
