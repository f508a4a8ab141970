/**
 * Shifts the clock of a process and of its worker threads. Load it before other code:
 *
 *     NODE_OPTIONS='--import file:///…/shifted-clock.js' CLOCK_SHIFT_MS=120000
 *
 * JavaScript, because a process may load it before Node knows TypeScript.
 */
const shiftMs = Number(process.env['CLOCK_SHIFT_MS'] ?? 0)
const RightDate = Date

globalThis.Date = class Date extends RightDate {
  constructor(...given) {
    if (given.length === 0) super(RightDate.now() + shiftMs)
    else super(...given)
  }
  static now() {
    return RightDate.now() + shiftMs
  }
}
