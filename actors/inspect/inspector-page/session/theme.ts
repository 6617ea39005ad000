import { signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';
const KEY = 'actorlet-inspector-theme';

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'auto';
  } catch {
    return 'auto';
  }
}

/** Chosen by hand, or as the system says. */
const theme = signal<Theme>(stored());

function apply(): void {
  if (theme.value === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.value;
}

/** To the other of dark and light. Going back to what the system says forgets the choice. */
export function toggleTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const next = (theme.value === 'auto' ? system : theme.value) === 'dark' ? 'light' : 'dark';
  theme.value = next === system ? 'auto' : next;
  try {
    if (theme.value === 'auto') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme.value);
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
  apply();
}

apply();
