import type { Role, SessionRole } from './roles.ts'

/** At the socket: what a connection to the board may do. */
export type SocketAccess = 'edit' | 'read' | 'refused'

const refused = {
  stranger: 'refused',
  removed: 'refused',
  'revoked token': 'refused',
  'expired token': 'refused',
} as const

export const socketPermissions: {
  board: 'shared' | 'child' | 'trashed'
  expect: Record<Role | SessionRole, SocketAccess>
}[] = [
  {
    board: 'shared',
    expect: {
      owner: 'edit',
      editor: 'edit',
      viewer: 'read',
      'shared editor': 'edit',
      'shared viewer': 'read',
      'guest editor': 'edit',
      'guest viewer': 'read',
      'guest with history': 'edit',
      'session with history': 'edit',
      'editor session of the board': 'edit',
      'viewer session of the board': 'read',
      'editor session of the workspace': 'edit',
      'viewer session of the workspace': 'read',
      ...refused,
    },
  },
  {
    board: 'child',
    expect: {
      owner: 'edit',
      editor: 'edit',
      viewer: 'read',
      'shared editor': 'refused',
      'shared viewer': 'refused',
      'guest editor': 'refused',
      'guest viewer': 'refused',
      'guest with history': 'refused',
      'session with history': 'refused',
      'editor session of the board': 'refused',
      'viewer session of the board': 'refused',
      'editor session of the workspace': 'edit',
      'viewer session of the workspace': 'read',
      ...refused,
    },
  },
  {
    board: 'trashed',
    expect: {
      owner: 'refused',
      editor: 'refused',
      viewer: 'refused',
      'shared editor': 'refused',
      'shared viewer': 'refused',
      'guest editor': 'refused',
      'guest viewer': 'refused',
      'guest with history': 'refused',
      'session with history': 'refused',
      'editor session of the board': 'refused',
      'viewer session of the board': 'refused',
      'editor session of the workspace': 'refused',
      'viewer session of the workspace': 'refused',
      ...refused,
    },
  },
]

/** Who may open the live list of the account, and that of the workspace. */
export const listPermissions: Record<'account' | 'workspace', Record<Role | SessionRole, boolean>> = {
  account: {
    owner: true,
    editor: true,
    viewer: true,
    'shared editor': true,
    'shared viewer': true,
    stranger: true,
    removed: true,
    'revoked token': false,
    'expired token': false,
    'guest editor': false,
    'guest viewer': false,
    'guest with history': false,
    'session with history': true,
    'editor session of the board': true,
    'viewer session of the board': true,
    'editor session of the workspace': true,
    'viewer session of the workspace': true,
  },
  workspace: {
    owner: true,
    editor: true,
    viewer: true,
    'shared editor': false,
    'shared viewer': false,
    stranger: false,
    removed: false,
    'revoked token': false,
    'expired token': false,
    'guest editor': false,
    'guest viewer': false,
    'guest with history': false,
    'session with history': false,
    'editor session of the board': false,
    'viewer session of the board': false,
    'editor session of the workspace': true,
    'viewer session of the workspace': true,
  },
}
