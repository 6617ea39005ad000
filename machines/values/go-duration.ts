/** A duration as Go prints it (`10s`, `1m20s`, `5m0s`, `1.5s`, `250ms`): kubelet's messages carry this form. */
export function goDuration(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < 0) return `-${goDuration(-ms)}`;
  if (ms < 1000) return `${trim(ms)}ms`;
  const seconds = ms / 1000;
  const h = Math.floor(seconds / 3600);
  const m = Math.floor((seconds - h * 3600) / 60);
  const s = seconds - h * 3600 - m * 60;
  if (h > 0) return `${h}h${m}m${trim(s)}s`;
  if (m > 0) return `${m}m${trim(s)}s`;
  return `${trim(s)}s`;
}

function trim(n: number): string {
  return String(Math.round(n * 1e6) / 1e6);
}
