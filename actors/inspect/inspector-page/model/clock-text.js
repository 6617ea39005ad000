var two = function (n) {
  return String(n).padStart(2, '0');
};
/** An age or a duration as kubectl writes it: `850ms`, `12s`, `3m20s`, `5h4m`, `2d7h`. Negative counts as 0. */
export function spanText(ms) {
  if (!(ms > 0)) return '0s';
  if (ms < 1000) return ''.concat(String(Math.round(ms)), 'ms');
  var s = Math.floor(ms / 1000);
  if (s < 60) return ''.concat(String(s), 's');
  var m = Math.floor(s / 60);
  if (m < 10) return s % 60 === 0 ? ''.concat(String(m), 'm') : ''.concat(String(m), 'm').concat(String(s % 60), 's');
  if (m < 60) return ''.concat(String(m), 'm');
  var h = Math.floor(m / 60);
  if (h < 24) return m % 60 === 0 ? ''.concat(String(h), 'h') : ''.concat(String(h), 'h').concat(String(m % 60), 'm');
  var d = Math.floor(h / 24);
  return h % 24 === 0 || d > 9 ? ''.concat(String(d), 'd') : ''.concat(String(d), 'd').concat(String(h % 24), 'h');
}
/** A measured duration: `0.4ms` is never shown as 0, seconds with two digits after the point. */
export function durationText(ms) {
  if (ms < 1) return '<1ms';
  if (ms < 1000) return ''.concat(String(Math.round(ms)), 'ms');
  if (ms < 10000) return ''.concat((ms / 1000).toFixed(2), 's');
  if (ms < 60000) return ''.concat((ms / 1000).toFixed(1), 's');
  return spanText(ms);
}
/** Local time of day with milliseconds: `14:03:07.125`. */
export function timeText(at) {
  var d = new Date(at);
  return ''
    .concat(two(d.getHours()), ':')
    .concat(two(d.getMinutes()), ':')
    .concat(two(d.getSeconds()), '.')
    .concat(String(d.getMilliseconds()).padStart(3, '0'));
}
/** Local date and time of day: `2026-03-01 14:03:07.125`. */
export function dateTimeText(at) {
  var d = new Date(at);
  return ''
    .concat(String(d.getFullYear()), '-')
    .concat(two(d.getMonth() + 1), '-')
    .concat(two(d.getDate()), ' ')
    .concat(timeText(at));
}
/** A count with thin spaces between groups of three: `100 000`. */
export function countText(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, '\u2009');
}
/** Length of a text or a document: `412 B`, `1.0 MB`. */
export function sizeText(bytes) {
  if (bytes < 1000) return ''.concat(String(bytes), ' B');
  if (bytes < 1000000) return ''.concat((bytes / 1000).toFixed(1), ' kB');
  return ''.concat((bytes / 1000000).toFixed(1), ' MB');
}
