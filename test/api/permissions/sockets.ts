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
      'editor session of the board': 'refused',
      'viewer session of the board': 'refused',
      'editor session of the workspace': 'refused',
      'viewer session of the workspace': 'refused',
      ...refused,
    },
  },
]
