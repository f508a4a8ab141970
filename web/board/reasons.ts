/** Why a board is not open, in words for the person who works on it. docs/editors.md has the tables. */

export interface Reason {
  /** Whether the app comes back by itself. */
  comesBack: boolean
  says: string
  /** What the person can do. Null: wait. */
  offers: 'sign in' | 'reload' | 'other board' | null
}

const later = (says: string): Reason => ({ comesBack: true, says, offers: null })
const ended = (says: string, offers: Reason['offers']): Reason => ({ comesBack: false, says, offers })

/** What the service answers when it refuses to open a board. */
const refusals: Record<string, Reason> = {
  'token-invalid': ended(
    'You are signed out. Sign in to go on; what is not saved stays in this window.',
    'sign in',
  ),
  'permission-denied': ended(
    'This board does not exist, it is in the trash, or you may not see it.',
    'other board',
  ),
  'try-later': later('This board has too many visitors at the moment. Trying again.'),
}

/** The codes with which the service closes a socket. */
const closings: Record<number, Reason> = {
  1009: ended('A change is too large for the service. Copy what you need, and reload.', 'reload'),
  1012: later('The service restarts. Your changes are kept, and sent when it is back.'),
  1013: later('The service can not save at the moment. Your changes are kept, and sent again.'),
  4205: later('The service could not read a message. Connecting again.'),
  4400: ended('The service can not take a change. Copy what you need, and reload.', 'reload'),
  4401: ended('The service did not accept this connection. Reload the page.', 'reload'),
  4403: ended(
    'Your access to this board has ended: you signed out, your rights changed, or the board is in the trash.',
    'sign in',
  ),
  4404: ended('This connection is for another board. Reload the page.', 'reload'),
  4408: later('The connection is too slow. Connecting again.'),
}

export const refusalReason = (reason: string): Reason =>
  refusals[reason] ?? later('The board can not be opened at the moment. Trying again.')

export const closeReason = (code: number): Reason =>
  closings[code] ?? later('The connection is lost. Your changes are kept, and sent when it is back.')
