import type { ComponentChildren } from 'preact';

/** Says why there is nothing, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <div class="quiet">{children}</div>
    </div>
  );
}
