export { createClient, type Client } from './client.ts'
export type { Change, EditOptions } from './edit.ts'
export { CorkboardError, isFailure, type FailureCode } from './errors.ts'
export type { Changes, FollowOptions } from './pages.ts'
export type {
  Answer,
  Board,
  Card,
  CardInput,
  CardPatch,
  ErrorCode,
  FeedOperation,
  FeedRow,
  Group,
  IndexCard,
  Input,
  ListOperation,
  Operation,
  RemovedCard,
  Row,
  WebhookEvent,
} from './operations.ts'
export type { components, paths, webhooks } from './schema.ts'
export type { TokenSource } from './token.ts'
export type { ClientOptions, SendOptions } from './transport.ts'
export type { UploadedFile, UploadOptions, UploadState } from './upload.ts'
export {
  createHandler,
  signForTest,
  verifyWebhook,
  WebhookError,
  type HandlerOptions,
  type Secrets,
} from './webhooks.ts'
