/** The client: every operation, its pages, its feeds, edits and uploads. */
import { editBoard, editCard, type BoardPatch, type Change, type EditOptions } from './edit.ts'
import { followFeed, listRows, type Changes, type FollowOptions } from './pages.ts'
import type {
  Board,
  Card,
  CardPatch,
  FeedOperation,
  FeedRow,
  Input,
  ListOperation,
  Row,
} from './operations.ts'
import { openRequest, type Arguments, type RequestOperation } from './request.ts'
import type { ClientOptions, SendOptions } from './transport.ts'
import { abortUpload, upload, type UploadedFile, type UploadOptions, type UploadState } from './upload.ts'

export interface Client {
  /**
   * Sends a request: `request('PATCH /boards/{id}', { path: { id }, body: { name } })`.
   *
   * @throws CorkboardError
   */
  request: RequestOperation
  /** The rows of a list, page after page: `for await (const board of client.list('GET /boards'))`. */
  list<O extends ListOperation>(operation: O, ...input: Arguments<Input<O>>): AsyncGenerator<Row<O>, void>
  /**
   * Everything that changes in a feed, from the beginning or from where you stopped: each `cursor` says where to go on.
   * Keep it after you have taken over its `rows`. Of boards and cards it tells of deletions, too.
   */
  follow<O extends FeedOperation>(
    operation: O,
    ...input: Arguments<Input<O> & FollowOptions>
  ): AsyncGenerator<Changes<FeedRow<O>>, void>
  /**
   * Changes a card so that nobody else's change is lost: `change` gets the card and returns the fields to set, and is
   * called again with the newer card when somebody was quicker. An answer of null changes nothing.
   */
  edit(
    card: { board: string; card: string },
    change: Change<Card, CardPatch>,
    options?: EditOptions,
  ): Promise<Card>
  /** The same for a board. */
  editBoard(board: string, change: Change<Board, BoardPatch>, options?: SendOptions): Promise<Board>
  /** Uploads a file for a board: an image at once, everything else in parts. @returns its key */
  upload(file: Blob, options: UploadOptions): Promise<UploadedFile>
  /** Gives up an upload in parts. */
  abortUpload(state: UploadState): Promise<void>
}

export function createClient(options: ClientOptions): Client {
  const request = openRequest(options)
  return {
    request,
    list: (operation, ...[input]) => listRows(request, operation, input ?? {}),
    follow: (operation, ...[input]) => followFeed(request, operation, input ?? {}),
    edit: (card, change, given) => editCard(request, card, change, given),
    editBoard: (board, change, given) => editBoard(request, board, change, given),
    upload: (file, given) => upload(request, file, { fetch: options.fetch, ...given }),
    abortUpload: (state) => abortUpload(request, state),
  }
}
