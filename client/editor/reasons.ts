/** Why a board is not open, and what to do. docs/editors.md has the same table. */

export interface Reason {
  name: string
  /** The close code of the socket. None when the service has refused to open the board. */
  code?: number
  /** Whether the editor comes back by itself. */
  comesBack: boolean
  /** What to do, for the developer. */
  advice: string
}

const comesBack = true

/** Refusals at authentication. */
const refusals: Record<string, Reason> = {
  'token-invalid': {
    name: 'token-invalid',
    comesBack: false,
    advice: 'The token is wrong, revoked or expired. Get a new one, then call reconnect().',
  },
  'permission-denied': {
    name: 'permission-denied',
    comesBack: false,
    advice: 'There is no such board, or this account may not see it. Do not come back with this account.',
  },
  'no-such-moment': {
    name: 'no-such-moment',
    comesBack: false,
    advice: 'The moment of `asOf` is not kept, or is no moment. Show another one.',
  },
  'try-later': {
    name: 'try-later',
    comesBack,
    advice: 'The board or the account has no place left for one more socket. Close unused boards.',
  },
}

/** Close codes. Those that are not listed are losses of the connection. */
const closings: Record<number, Omit<Reason, 'code'>> = {
  1009: {
    name: 'too-big',
    comesBack: false,
    advice: 'A change is too large. Copy what is not saved, and open the board again without it.',
  },
  1012: { name: 'service-restart', comesBack, advice: 'The service restarts.' },
  1013: { name: 'try-later', comesBack, advice: 'The service can not save changes at the moment.' },
  4205: { name: 'reset', comesBack, advice: 'The service could not read a message.' },
  4400: {
    name: 'refused-change',
    comesBack: false,
    advice: 'The service can not take a change. Copy what is not saved, and open the board again without it.',
  },
  4401: {
    name: 'unauthorized',
    comesBack: false,
    advice: 'The client did not authenticate first. Check that the provider is version 4.',
  },
  4403: {
    name: 'access-ended',
    comesBack: false,
    advice: 'The access or the token has ended, or the board was deleted. Do not come back with this token.',
  },
  4404: {
    name: 'wrong-address',
    comesBack: false,
    advice: 'The address of the socket names another board.',
  },
  4408: { name: 'too-slow', comesBack, advice: 'The client reads too slowly, or did not answer.' },
}

/** @param reason of the service, or of the provider when the function that makes tokens has thrown */
export const refusalReason = (reason: string): Reason =>
  refusals[reason] ?? { name: 'no-token', comesBack, advice: reason }

export function closeReason(code: number): Reason {
  const known = closings[code] ?? { name: 'connection-lost', comesBack, advice: 'Check the network.' }
  return { ...known, code }
}
