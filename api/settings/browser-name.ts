/**
 * Short names of browsers. A list of the common ones is enough: the name only helps somebody to recognise their own
 * session, and packages for this carry thousands of rules.
 */

/** The first that fits counts: most browsers also name those that they derive from. */
const browsers: readonly [RegExp, string][] = [
  [/\bEdg(?:A|iOS|e)?\//, 'Edge'],
  [/\b(?:OPR|OPT|Opera)\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?Chrom(?:e|ium)\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/\S+ .*\bSafari\//, 'Safari'],
]

const systems: readonly [RegExp, string][] = [
  [/\bWindows\b/, 'Windows'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** `Firefox on Linux`; of other programs the name that they begin with: `curl`. */
export function browserName(userAgent: string | null): string {
  const of = (names: readonly [RegExp, string][]) =>
    names.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1]
  const [, program] = /^(?!Mozilla\b)([A-Za-z][\w.-]{0,39})(?:\/|$)/.exec(userAgent ?? '') ?? []
  const name = of(browsers) ?? program ?? 'Unknown browser'
  const system = of(systems)
  return system === undefined ? name : `${name} on ${system}`
}
