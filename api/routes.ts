/** Every operation of the API. */
import { listAudit } from './audit/list.ts'
import { createBoard } from './boards/create.ts'
import { deleteBoard, deleteManyBoards } from './boards/delete.ts'
import { readDiff } from './boards/diff.ts'
import { createVersion, deleteVersion, listVersions, renameVersion } from './versions/versions.ts'
import { listHistory } from './boards/history.ts'
import { listBoards } from './boards/list.ts'
import { moveBoards } from './boards/move.ts'
import { patchBoard } from './boards/patch.ts'
import { readBoardById } from './boards/read.ts'
import { restoreBoard } from './boards/restore.ts'
import { readTree } from './boards/tree.ts'
import { arrangeBoard } from './cards/arrange.ts'
import { createCardsRoute } from './cards/create.ts'
import { deleteCard, deleteManyCards } from './cards/delete.ts'
import { deleteCardHistory } from './cards/expunge.ts'
import { listCardHistory } from './cards/history.ts'
import { listCards } from './cards/list.ts'
import { moveCardsRoute } from './cards/move.ts'
import { readCard } from './cards/read.ts'
import { patchCard, patchManyCards } from './cards/patch.ts'
import { streamEvents } from './events/events.ts'
import { exportBoard } from './exchange/export.ts'
import { importRoute } from './exchange/import.ts'
import { uploadFromUrl } from './exchange/upload-from-url.ts'
import { createGroupRoute, deleteGroup, listGroups, patchGroupRoute } from './groups/groups.ts'
import { restoreBoardTo } from './history/restore-to.ts'
import { undoOnBoard } from './history/undo.ts'
import { listWorkspaces, readMe, readRoot } from './http/identity.ts'
import { listNotifications } from './notifications/list.ts'
import { markNotificationsRead } from './notifications/read.ts'
import { resolveIdentifier } from './search/resolve.ts'
import { abortUpload, beginUpload, signParts } from './files/multipart.ts'
import { completeUpload } from './files/multipart-complete.ts'
import { listFiles } from './files/list.ts'
import { readFile } from './files/read.ts'
import { signUrls } from './files/urls.ts'
import { uploadImage } from './files/upload.ts'
import { mcpRoute } from './mcp/endpoint.ts'
import type { Route } from './http/route.ts'
import { acceptInvitationRoute } from './people/accept-invitation.ts'
import { createInvitation, deleteInvitation, listInvitations } from './people/invitations.ts'
import { deleteMember, listMembers, patchMember } from './people/members.ts'
import { createLink, deleteLink, listLinks } from './people/links.ts'
import { openLink } from './people/open-link.ts'
import { createShare, deleteShare, listShares, patchShare } from './people/shares.ts'
import {
  createServiceAccountRoute,
  listServiceAccounts,
  retireServiceAccountRoute,
} from './service-accounts/accounts.ts'
import {
  listServiceTokens,
  mintServiceTokenRoute,
  revokeServiceTokenRoute,
} from './service-accounts/tokens.ts'
import { listDeliveries, redeliver, testWebhook } from './webhooks/deliveries.ts'
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  patchWebhook,
  rotateSecret,
} from './webhooks/webhooks.ts'
import { deletePresence, putPresence, readPresence } from './presence/presence.ts'
import { search } from './search/search.ts'
import { endSessionsRoute, mintSessionRoute } from './sessions/sessions.ts'

export const routes: Route[] = [
  readRoot(() => routes),
  readMe,
  listWorkspaces,
  listMembers,
  patchMember,
  deleteMember,
  listInvitations,
  createInvitation,
  deleteInvitation,
  acceptInvitationRoute,
  listNotifications,
  markNotificationsRead,
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
  listHistory,
  readDiff,
  restoreBoardTo,
  undoOnBoard,
  readPresence,
  putPresence,
  deletePresence,
  listVersions,
  createVersion,
  renameVersion,
  deleteVersion,
  listShares,
  createShare,
  patchShare,
  deleteShare,
  listLinks,
  createLink,
  deleteLink,
  openLink,
  listCards,
  createCardsRoute,
  patchManyCards,
  deleteManyCards,
  readCard,
  patchCard,
  deleteCard,
  listCardHistory,
  deleteCardHistory,
  moveCardsRoute,
  listWebhooks,
  createWebhook,
  patchWebhook,
  deleteWebhook,
  testWebhook,
  rotateSecret,
  listDeliveries,
  redeliver,
  streamEvents,
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
  mintSessionRoute,
  endSessionsRoute,
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
  signUrls,
  mcpRoute,
]
