import { closeSync, openSync, readSync } from 'node:fs';

/**
 * Loaded before the agent (`node --import`): moves the clock of this process, and of its worker threads, by as many ms as
 * the file named by CLOCK_SHIM_FILE says. The machine's own clock, and the runtime's, stay as they are.
 */
const file = process.env['CLOCK_SHIM_FILE'];
if (file !== undefined) {
  const real = Date.now.bind(Date);
  const buffer = Buffer.alloc(32);
  let shift = 0;
  let lookedAt = -Infinity;
  const shifted = (): number => {
    if (performance.now() - lookedAt > 50) {
      lookedAt = performance.now();
      const fd = openSync(file, 'r');
      shift = Number(buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0)));
      closeSync(fd);
    }
    return real() + shift;
  };
  const RealDate = Date;
  const ShiftedDate = function (this: unknown, ...args: []) {
    if (new.target === undefined) return new RealDate(shifted()).toString();
    return Reflect.construct(RealDate, args.length === 0 ? [shifted()] : args, new.target) as object;
  };
  ShiftedDate.prototype = RealDate.prototype;
  Object.setPrototypeOf(ShiftedDate, RealDate);
  Object.defineProperty(ShiftedDate, 'now', { value: shifted, writable: true, configurable: true });
  Object.defineProperty(RealDate.prototype, 'constructor', { value: ShiftedDate, writable: true, configurable: true });
  globalThis.Date = ShiftedDate as unknown as DateConstructor;
}
