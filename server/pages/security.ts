/**
 * Returns the content security policy of the service's own pages. They may load only what the service itself serves.
 */

export function contentSecurityPolicy({
  style = '',
  script = '',
}: { style?: string; script?: string } = {}): string {
  return Object.entries({
    'default-src': "'none'",
    'script-src': script || "'none'",
    'style-src': style || "'none'",
    'img-src': "'self' data:",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  })
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ')
}
