/** Why a board is not open, in words for the person who works on it. docs/editors.md has the tables. */
import type { Reason } from '../../client/editor/index.ts'

export interface Words {
  says: string
  /** What the person can do. Null: wait. */
  offers: 'sign in' | 'reload' | 'restore' | 'other board' | null
}

const wait = (says: string): Words => ({ says, offers: null })

/** By the names of the reasons. Other reasons are losses of the connection. */
const words: Record<string, Words> = {
  'token-invalid': {
    says: 'You are signed out. Sign in to go on. Changes that are not saved stay on this device.',
    offers: 'sign in',
  },
  'permission-denied': {
    says: 'This board does not exist, or you may not see it. Ask the person who sent you here for access.',
    offers: 'other board',
  },
  'access-ended': {
    says: 'Your access to this board has ended. Ask the owner of the board for access.',
    offers: 'other board',
  },
  'too-big': {
    says: 'A change is too large for the service. Copy what you need, and reload.',
    offers: 'reload',
  },
  'refused-change': {
    says: 'The service can’t take a change. Copy what you need, and reload.',
    offers: 'reload',
  },
  unauthorized: { says: 'The service did not accept this connection. Reload the page.', offers: 'reload' },
  'wrong-address': { says: 'This connection is for another board. Reload the page.', offers: 'reload' },
  'service-restart': wait('The service restarts. Your changes are kept, and sent when it is back.'),
  reset: wait('The service could not read a message. Connecting again.'),
  'too-slow': wait('The connection is too slow. Connecting again.'),
}

export const inTrash: Words = {
  says: 'This board is in the trash. Nobody can change it. It can be restored for 30 days after it was deleted.',
  offers: 'restore',
}

const lost = wait('The connection is lost. Your changes are kept, and sent when it is back.')

interface Circumstances {
  /** Whether the person has seen the board in this window. */
  wasOpen: boolean
  isGuest: boolean
  /** Whether this device keeps what is not saved. */
  kept: boolean
}

export function wordsOf({ name, code }: Reason, { wasOpen, isGuest, kept }: Circumstances): Words {
  if (name === 'token-invalid' && isGuest)
    return wait('This guest link has ended. Copy what you need, and ask for another link.')
  if (name === 'token-invalid' && !kept)
    return { says: 'You are signed out. Copy what is not saved, then sign in to go on.', offers: 'sign in' }
  if (name === 'permission-denied' && wasOpen) return words['access-ended']!
  if (name !== 'try-later') return words[name] ?? lost
  return code === undefined
    ? wait('This board has too many visitors at the moment. Trying again.')
    : wait('The service can’t save at the moment. Your changes are kept, and sent again.')
}
