/**
 * Short names of browsers, from the user agent. They only help people to recognise their own sessions. So a list of the
 * common browsers is enough; a package for this has thousands of rules.
 */

/** The first match counts: most user agents also contain the names of other browsers. */
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

/** Such as `Firefox on Linux`. For other programs, the first word of the user agent: `curl`. */
export function browserName(userAgent: string | null): string {
  const of = (names: readonly [RegExp, string][]) =>
    names.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1]
  const [, program] = /^(?!Mozilla\b)([A-Za-z][\w.-]{0,39})(?:\/|$)/.exec(userAgent ?? '') ?? []
  const name = of(browsers) ?? program ?? 'Unknown browser'
  const system = of(systems)
  return system === undefined ? name : `${name} on ${system}`
}
