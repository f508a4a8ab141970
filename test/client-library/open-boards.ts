/** Boards that the tests of a file open by the client library. */
import { afterEach } from 'vitest'
import { openBoard, type BoardOptions, type OpenBoard } from '../../client/editor/index.ts'
import { TestSocket, until } from '../support/editor.ts'
import type { TestService, TestUser } from '../support/service.ts'

export type Open = (board: string, options?: Partial<BoardOptions>) => OpenBoard

/** @returns a function that opens a board. It is closed after the test. */
export function opening(service: Pick<TestService, 'url'>, user: Pick<TestUser, 'token'>): Open {
  const open = new Set<OpenBoard>()
  afterEach(() => {
    for (const board of open) board.close()
    open.clear()
  })
  return (board, options = {}) => {
    const made = openBoard({ url: service.url, board, token: user.token, WebSocket: TestSocket, ...options })
    // The stock provider waits for a second.
    const { configuration } = made.provider.configuration.websocketProvider
    Object.assign(configuration, { delay: 20, minDelay: 20, maxDelay: 50 })
    open.add(made)
    return made
  }
}

export const status = (board: OpenBoard) => board.status.get()

/** Waits until the status is this. The reason counts by its name. */
export const becomes = (board: OpenBoard, expected: object) =>
  until(
    () => {
      const shown = { ...status(board), reason: status(board).reason?.name ?? null }
      return Object.entries(expected).every(([key, value]) => shown[key as keyof typeof shown] === value)
    },
    `the status is ${JSON.stringify(expected)}`,
  )
