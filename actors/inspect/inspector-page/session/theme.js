import { signal } from '@preact/signals';
var KEY = 'actorlet-inspector-theme';
function stored() {
  try {
    var value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'auto';
  } catch (_a) {
    return 'auto';
  }
}
/** Chosen by hand, or as the system says. */
export var theme = signal(stored());
function apply() {
  if (theme.value === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.value;
}
/** To the other of dark and light. Going back to what the system says forgets the choice. */
export function toggleTheme() {
  var system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  var next = (theme.value === 'auto' ? system : theme.value) === 'dark' ? 'light' : 'dark';
  theme.value = next === system ? 'auto' : next;
  try {
    if (theme.value === 'auto') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme.value);
  } catch (_a) {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
  apply();
}
apply();
