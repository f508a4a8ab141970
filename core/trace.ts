/**
 * The traces of requests: the header `traceparent` of W3C Trace Context (https://www.w3.org/TR/trace-context-2/). A trace
 * is kept as `<trace id>-<flags>`, in hexadecimal.
 */

/** The flags `sampled` and `random-trace-id`. Others are set to 0, as the standard asks. */
const knownFlags = 0x03

/**
 * Returns the trace that a `traceparent` header names; null when the header is missing or malformed. Versions after 00
 * may have more fields after the fourth.
 */
export function traceOf(header: string | string[] | undefined): string | null {
  const [, version, traceId, parentId, flags, more] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(String(header)) ?? []
  const isKnown = version !== 'ff' && (version !== '00' || more === undefined)
  if (!isKnown || !/[^0]/.test(traceId ?? '') || !/[^0]/.test(parentId ?? '')) return null
  return `${traceId}-${(parseInt(flags!, 16) & knownFlags).toString(16).padStart(2, '0')}`
}

/** Returns the header that passes a trace on. `parentId`: 16 hexadecimal digits that name the request with the header. */
export const traceparent = (trace: string, parentId: string): string =>
  `00-${trace.replace('-', `-${parentId}-`)}`
