/** Every operation of the API. */
import { listAudit } from './audit/list.ts'
import { createBoard } from './boards/create.ts'
import { deleteBoard, deleteManyBoards } from './boards/delete.ts'
import { listBoards } from './boards/list.ts'
import { moveBoards } from './boards/move.ts'
import { patchBoard } from './boards/patch.ts'
import { readBoardById } from './boards/read.ts'
import { restoreBoard } from './boards/restore.ts'
import { readTree } from './boards/tree.ts'
import { arrangeBoard } from './cards/arrange.ts'
import { createCardsRoute } from './cards/create.ts'
import { deleteCard, deleteManyCards } from './cards/delete.ts'
import { listCards } from './cards/list.ts'
import { moveCardsRoute } from './cards/move.ts'
import { readCard } from './cards/read.ts'
import { patchCard, patchManyCards } from './cards/patch.ts'
import { exportBoard } from './exchange/export.ts'
import { importRoute } from './exchange/import.ts'
import { uploadFromUrl } from './exchange/upload-from-url.ts'
import { createGroupRoute } from './groups/create.ts'
import { deleteGroup } from './groups/delete.ts'
import { listGroups } from './groups/list.ts'
import { patchGroupRoute } from './groups/patch.ts'
import { listWorkspaces, readMe, readRoot } from './http/identity.ts'
import { listNotifications } from './notifications/list.ts'
import { resolveIdentifier } from './search/resolve.ts'
import { abortUpload } from './files/multipart-abort.ts'
import { beginUpload } from './files/multipart-begin.ts'
import { completeUpload } from './files/multipart-complete.ts'
import { signParts } from './files/multipart-parts.ts'
import { listFiles } from './files/list.ts'
import { readFile } from './files/read.ts'
import { uploadImage } from './files/upload.ts'
import { mcpRoute } from './mcp/endpoint.ts'
import type { Route } from './http/route.ts'
import { createServiceAccountRoute } from './service-accounts/create.ts'
import { listServiceTokens } from './service-accounts/list-tokens.ts'
import { listServiceAccounts } from './service-accounts/list.ts'
import { mintServiceTokenRoute } from './service-accounts/mint-token.ts'
import { retireServiceAccountRoute } from './service-accounts/retire.ts'
import { revokeServiceTokenRoute } from './service-accounts/revoke-token.ts'
import { createWebhook } from './webhooks/create.ts'
import { deleteWebhook } from './webhooks/delete.ts'
import { listDeliveries } from './webhooks/deliveries.ts'
import { listWebhooks } from './webhooks/list.ts'
import { patchWebhook } from './webhooks/patch.ts'
import { redeliver } from './webhooks/redeliver.ts'
import { rotateSecret } from './webhooks/rotate-secret.ts'
import { testWebhook } from './webhooks/test.ts'
import { search } from './search/search.ts'

export const routes: Route[] = [
  readRoot(() => routes),
  readMe,
  listWorkspaces,
  listNotifications,
  search,
  listBoards,
  createBoard,
  deleteManyBoards,
  moveBoards,
  readTree,
  readBoardById,
  patchBoard,
  deleteBoard,
  restoreBoard,
  listCards,
  createCardsRoute,
  patchManyCards,
  deleteManyCards,
  readCard,
  patchCard,
  deleteCard,
  moveCardsRoute,
  listWebhooks,
  createWebhook,
  patchWebhook,
  deleteWebhook,
  testWebhook,
  rotateSecret,
  listDeliveries,
  redeliver,
  resolveIdentifier,
  arrangeBoard,
  listGroups,
  createGroupRoute,
  patchGroupRoute,
  deleteGroup,
  listServiceAccounts,
  createServiceAccountRoute,
  retireServiceAccountRoute,
  listServiceTokens,
  mintServiceTokenRoute,
  revokeServiceTokenRoute,
  listAudit,
  exportBoard,
  importRoute,
  uploadImage,
  uploadFromUrl,
  beginUpload,
  signParts,
  completeUpload,
  abortUpload,
  listFiles,
  readFile,
  mcpRoute,
]
