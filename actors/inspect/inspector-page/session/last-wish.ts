/**
 * Has something loaded, one load at a time: wishes that come while one runs wait, and only the last of them counts, so that
 * holding a key down costs as many requests as the server answers.
 *
 * @param load must not reject
 * @returns wishes for a load
 */
export function lastWish(load: () => Promise<void>): () => void {
  let running = false;
  let again = false;
  const run = async () => {
    running = true;
    try {
      do {
        again = false;
        await load();
      } while (again);
    } finally {
      running = false;
    }
  };
  return () => {
    if (running) again = true;
    else void run();
  };
}
