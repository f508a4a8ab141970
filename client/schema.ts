/**
 * The types of the API, made from its description. Do not change this file: `npm run client:types` makes it anew.
 */
export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the endpoints and the scopes of the token.
         * @description Needs the scope `read`.
         */
        get: operations["getRoot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the account that the token belongs to.
         * @description Needs the scope `read`.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workspaces that the account can see.
         * @description Needs the scope `read`.
         */
        get: operations["getWorkspaces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the members of a workspace, the owner first. Only the owner can.
         * @description Needs the scope `read`.
         */
        get: operations["getWorkspacesByIdMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/members/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a member, or leave a workspace.
         * @description The owner can remove every other member. A member can remove itself. Open editors are disconnected within two seconds.
         *
         *     Needs the scope `write`.
         */
        delete: operations["deleteWorkspacesByIdMembersByUserId"];
        options?: never;
        head?: never;
        /**
         * Change the role of a member. Only the owner can.
         * @description To transfer the workspace, invite the new owner with the role `owner`.
         *
         *     Needs the scope `write`.
         */
        patch: operations["patchWorkspacesByIdMembersByUserId"];
        trace?: never;
    };
    "/workspaces/{id}/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the invitations that can still be accepted, newest first. Only the owner can.
         * @description Needs the scope `read`.
         */
        get: operations["getWorkspacesByIdInvitations"];
        put?: never;
        /**
         * Invite a person to a workspace or to a board. Only the owner can.
         * @description The answer is the same whether the person has an account. An invitation works once, for 7 days. It takes the place of an earlier one of the person to the same workspace or board. An account can make 20 in an hour.
         *
         *     Needs the scope `write`.
         */
        post: operations["postWorkspacesByIdInvitations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/invitations/{invitationId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an invitation. Its link stops working. Only the owner can.
         * @description Needs the scope `write`.
         */
        delete: operations["deleteWorkspacesByIdInvitationsByInvitationId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invitation to a workspace or a board.
         * @description The `code` is the one in the link of the invitation. An invitation to an e-mail address is for the account with this address. Service accounts and guests cannot accept one.
         *
         *     Needs the scope `write`.
         */
        post: operations["postInvitationsAccept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the notifications of the account, newest first. With `since`: a feed of new ones.
         * @description Notifications are kept for 90 days.
         *
         *     Needs the scope `read`.
         */
        get: operations["getNotifications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark notifications of the account as read.
         * @description Send `ids` or `before`. What is read already stays as it is, so the request can be repeated. Ids that are not notifications of the account are ignored.
         *
         *     Needs the scope `write`.
         */
        post: operations["postNotificationsRead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search boards by name and cards by title and body, best match first.
         * @description If more than 2000 cards match, only these are ranked: cards whose title begins with the query, matches among the newest 10,000 cards, and 2000 other matches.
         *
         *     Needs the scope `read`.
         */
        get: operations["getSearch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List boards, or follow their changes.
         * @description Without `since` or `cursor`: boards by the time of their creation, in pages by `offset`. With one of them: a change feed, in pages by `cursor`.
         *
         *     Needs the scope `read`.
         */
        get: operations["getBoards"];
        put?: never;
        /**
         * Create a board, or up to 500 at once.
         * @description Needs the scope `write`.
         */
        post: operations["postBoards"];
        /**
         * Put up to 500 boards into the trash. Each can be restored for 30 days.
         * @description Needs the scope `delete`.
         */
        delete: operations["deleteBoards"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move up to 500 boards below another one, or to the top level.
         * @description Needs the scope `write`.
         */
        post: operations["postBoardsMove"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/tree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the tree of boards below a board, or of a workspace.
         * @description At most 50000 boards come in one answer. A larger tree is 400: read it in parts.
         *
         *     Needs the scope `read`.
         */
        get: operations["getBoardsTree"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a board and its remaining card capacity.
         * @description Needs the scope `read`.
         */
        get: operations["getBoardsById"];
        put?: never;
        post?: never;
        /**
         * Put a board into the trash. It can be restored for 30 days.
         * @description Needs the scope `delete`.
         */
        delete: operations["deleteBoardsById"];
        options?: never;
        head?: never;
        /**
         * Change the fields of a board that are sent.
         * @description Needs the scope `write`.
         */
        patch: operations["patchBoardsById"];
        trace?: never;
    };
    "/boards/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bring a board back from the trash.
         * @description Needs the scope `write`.
         */
        post: operations["postBoardsByIdRestore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the changes of a board, newest first.
         * @description One entry for each request, and one for each burst of edits by an editor. Members of the workspace see all that is kept; a guest needs the history to be shared.
         *
         *     Needs the scope `read`.
         */
        get: operations["getBoardsByIdHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare a board at two moments, field by field.
         * @description Cards come in the order of their ids, in pages by `offset`; groups with the first page. Members of the workspace see all that is kept; a guest needs the history to be shared.
         *
         *     Needs the scope `read`.
         */
        get: operations["getBoardsByIdDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/restore-to": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bring a board, or some of its cards, back to what they were.
         * @description A new change, which can be undone in turn. Open canvases show it. Needs the scope `delete`, too, when cards are removed by it. With `card_ids`, all other cards stay as they are now; of the groups, only those come back that the cards were in. Cards that were moved to another board since, or here from one, are left where they are, and are listed in `skipped`. So are cards whose past at that moment was expunged. A guest needs the history to be shared.
         *
         *     Needs the scope `write`.
         */
        post: operations["postBoardsByIdRestoreTo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo what a request, an import or an actor changed on a board.
         * @description A new change, which can be undone in turn. A field gets the value from before only where nobody else has changed it since. Of a text, changes at other places are kept. Cards that were created are removed (scope `delete`), unless somebody else changed them; cards that were removed come back whole, with their ids. Moves between boards are not undone. What is named several times has to be true of a change at once. A change that is not there is 404, also an actor without one, but not `me`. A guest needs the history to be shared.
         *
         *     Needs the scope `write`.
         */
        post: operations["postBoardsByIdUndo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/presence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who is on a board at the moment: open editors, and agents that are shown.
         * @description Needs the scope `read`.
         */
        get: operations["getBoardsByIdPresence"];
        /**
         * Show the caller on a board, as an agent, for a while.
         * @description Open canvases show it beside the people. Call it again to move, or to stay. A token is shown once on a board. Nothing of it is stored.
         *
         *     Needs the scope `write`.
         */
        put: operations["putBoardsByIdPresence"];
        post?: never;
        /**
         * Stop showing the caller on a board.
         * @description Needs the scope `write`.
         */
        delete: operations["deleteBoardsByIdPresence"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the named versions of a board, the latest moment first.
         * @description Members of the workspace see all of them. A guest needs the history to be shared, and sees those since then.
         *
         *     Needs the scope `read`.
         */
        get: operations["getBoardsByIdVersions"];
        put?: never;
        /**
         * Give the board as it is now, or as it was, a name.
         * @description The board can be read as it was at this moment until the version is deleted, also after the retention of its history. A board has at most 1000 versions. A guest needs the history to be shared.
         *
         *     Needs the scope `write`.
         */
        post: operations["postBoardsByIdVersions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/versions/{versionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a version. The moment is then kept as long as the rest of the history.
         * @description Needs the scope `write`.
         */
        delete: operations["deleteBoardsByIdVersionsByVersionId"];
        options?: never;
        head?: never;
        /**
         * Rename a version.
         * @description Needs the scope `write`.
         */
        patch: operations["patchBoardsByIdVersionsByVersionId"];
        trace?: never;
    };
    "/boards/{id}/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the accounts with which a board is shared. Only the owner of the workspace can.
         * @description Needs the scope `read`.
         */
        get: operations["getBoardsByIdShares"];
        put?: never;
        /**
         * Share a board with an account that you know. Only the owner of the workspace can.
         * @description The account must be a member of one of your workspaces, or have another of your boards. Invite other people by e-mail: `POST /workspaces/{id}/invitations` with `board_id`. An existing share is replaced.
         *
         *     Needs the scope `write`.
         */
        post: operations["postBoardsByIdShares"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/shares/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a share of a board. The owner of the workspace can, and the account itself.
         * @description Open editors of the account are disconnected within two seconds.
         *
         *     Needs the scope `write`.
         */
        delete: operations["deleteBoardsByIdSharesByUserId"];
        options?: never;
        head?: never;
        /**
         * Change a share of a board. Only the owner of the workspace can.
         * @description Needs the scope `write`.
         */
        patch: operations["patchBoardsByIdSharesByUserId"];
        trace?: never;
    };
    "/boards/{id}/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the guest links of a board. Only the owner of the workspace can.
         * @description Needs the scope `read`.
         */
        get: operations["getBoardsByIdLinks"];
        put?: never;
        /**
         * Create a guest link of a board. Only this answer contains its token.
         * @description Only the owner of the workspace can. Put the token into the fragment of a URL of your application, such as `https://app.example/open#TOKEN`: browsers send a fragment to no server. Your page sends it to `POST /links/open`. A board can have 100 links.
         *
         *     Needs the scope `write`.
         */
        post: operations["postBoardsByIdLinks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/links/{linkId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a guest link. Its guests are disconnected within two seconds.
         * @description Needs the scope `write`.
         */
        delete: operations["deleteBoardsByIdLinksByLinkId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/links/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open a guest link. The answer has a token for the one board, as a guest with this name.
         * @description The token is for the API and for editors at `/collab`. It has no scope `delete`, and is valid for 12 hours at most, and not longer than the link. Open the link again for another one. An address can open 100 links in an hour, and a link can be opened 300 times in an hour.
         *
         *     Needs no token.
         */
        post: operations["postLinksOpen"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/cards": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the cards of a board, or follow their changes.
         * @description Without `source`: the live board, with all fields, in pages by `offset`. With `source=index`: the index, in pages by `cursor`. With `source=index` and `since`: a change feed. With `as_of`: the board as it was, with all fields, in pages by `offset`. A guest needs the history to be shared.
         *
         *     Needs the scope `read`.
         */
        get: operations["getBoardsByIdCards"];
        put?: never;
        /**
         * Create a card, or up to 1000 at once.
         * @description Needs the scope `write`.
         */
        post: operations["postBoardsByIdCards"];
        /**
         * Remove up to 1000 cards.
         * @description Needs the scope `delete`.
         */
        delete: operations["deleteBoardsByIdCards"];
        options?: never;
        head?: never;
        /**
         * Change up to 1000 cards.
         * @description Needs the scope `write`.
         */
        patch: operations["patchBoardsByIdCards"];
        trace?: never;
    };
    "/boards/{id}/cards/{cardId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a card, with its properties and identifiers.
         * @description Needs the scope `read`.
         */
        get: operations["getBoardsByIdCardsByCardId"];
        put?: never;
        post?: never;
        /**
         * Remove a card. Post it back to restore it.
         * @description Needs the scope `delete`.
         */
        delete: operations["deleteBoardsByIdCardsByCardId"];
        options?: never;
        head?: never;
        /**
         * Change the fields of a card that are sent.
         * @description Needs the scope `write`.
         */
        patch: operations["patchBoardsByIdCardsByCardId"];
        trace?: never;
    };
    "/boards/{id}/cards/{cardId}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the changes of a card, newest first.
         * @description It follows the card to the boards that it was moved from, as far as you may see their history. A card that was removed has its history, too.
         *
         *     Needs the scope `read`.
         */
        get: operations["getBoardsByIdCardsByCardIdHistory"];
        put?: never;
        post?: never;
        /**
         * Remove the past of a card for good, such as a secret that was pasted. For the owner of the workspace.
         * @description The card stays as it is now; of a removed card nothing stays, and it can’t be restored. Until this moment, the past of the board is shown without the card, also in named versions. Backups, and copies that clients have, are not reached.
         *
         *     Needs the scope `delete`.
         */
        delete: operations["deleteBoardsByIdCardsByCardIdHistory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/cards/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move up to 1000 cards to another board.
         * @description Needs the scope `write`.
         */
        post: operations["postBoardsByIdCardsMove"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhooks of a workspace, or of all workspaces that the account may write in.
         * @description Needs the scope `read`.
         */
        get: operations["getWebhooks"];
        put?: never;
        /**
         * Create a webhook. Only this answer contains its secret.
         * @description Needs the scope `write`.
         */
        post: operations["postWebhooks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a webhook, its waiting deliveries and its delivery log.
         * @description Needs the scope `write`.
         */
        delete: operations["deleteWebhooksById"];
        options?: never;
        head?: never;
        /**
         * Change a webhook, or switch it on or off.
         * @description Needs the scope `write`.
         */
        patch: operations["patchWebhooksById"];
        trace?: never;
    };
    "/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test delivery with the event `webhook.test`, also to an inactive webhook.
         * @description Needs the scope `write`.
         */
        post: operations["postWebhooksByIdTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret of a webhook. Deliveries are also signed with the previous one for 24 hours.
         * @description Needs the scope `write`.
         */
        post: operations["postWebhooksByIdRotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook, newest first. Each attempt and each waiting delivery is an entry.
         * @description Entries are kept for 30 days.
         *
         *     Needs the scope `read`.
         */
        get: operations["getWebhooksByIdDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Queue a delivery again, with the same id and 6 new attempts.
         * @description Needs the scope `write`.
         */
        post: operations["postWebhooksByIdDeliveriesByDeliveryIdRedeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow events as they happen, as Server-Sent Events.
         * @description The events are those of webhooks, of everything that the caller may see when an event is sent. Send the `id` of the last event in `Last-Event-ID` to resume: within 7 days nothing is missed. The stream ends with its token or session, and when the service stops.
         *
         *     Needs the scope `read`.
         */
        get: operations["getEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find boards and cards by their identifier in another system. An image card also matches as an image.
         * @description Needs the scope `read`.
         */
        get: operations["getResolve"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/arrange": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Arrange the cards of a board.
         * @description Needs the scope `write`.
         */
        post: operations["postBoardsByIdArrange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the groups of a board, oldest first.
         * @description Needs the scope `read`.
         */
        get: operations["getBoardsByIdGroups"];
        put?: never;
        /**
         * Create a group. To put cards into it, set their `group_id`.
         * @description Needs the scope `write`.
         */
        post: operations["postBoardsByIdGroups"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/groups/{groupId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Ungroup: remove a group, but not its cards.
         * @description Needs the scope `write`.
         */
        delete: operations["deleteBoardsByIdGroupsByGroupId"];
        options?: never;
        head?: never;
        /**
         * Change a group. Only the fields that are sent change.
         * @description Needs the scope `write`.
         */
        patch: operations["patchBoardsByIdGroupsByGroupId"];
        trace?: never;
    };
    "/service-accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the service accounts of a workspace, including retired ones.
         * @description Needs the scope `read`.
         */
        get: operations["getServiceAccounts"];
        put?: never;
        /**
         * Create a service account and its first token. Only this answer contains the token.
         * @description Needs the scope `write`.
         */
        post: operations["postServiceAccounts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/service-accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Retire a service account. Its tokens are revoked, and its open editors are disconnected.
         * @description Needs the scope `write`.
         */
        delete: operations["deleteServiceAccountsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/service-accounts/{id}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tokens of a service account.
         * @description Needs the scope `read`.
         */
        get: operations["getServiceAccountsByIdTokens"];
        put?: never;
        /**
         * Create another token of a service account. Only this answer contains it. Earlier tokens stay valid.
         * @description Needs the scope `write`.
         */
        post: operations["postServiceAccountsByIdTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/service-accounts/{id}/tokens/{tokenId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke one token of a service account.
         * @description Needs the scope `write`.
         */
        delete: operations["deleteServiceAccountsByIdTokensByTokenId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mint a session for a user of your product.
         * @description The `access_token` opens the boards that you name, on the API and on sockets, and no others. Name boards or a workspace. It is for the token of a service account, in its workspace, or for a personal token of the workspace’s owner. The session may never do more than that token and its account may do at the moment, and ends with them. It cannot mint, share or invite, and it reaches no webhooks and no service accounts. Mint again before it expires, for example when the editor asks for a token.
         *
         *     Needs the scope `write`.
         */
        post: operations["postSessions"];
        /**
         * End the sessions of a user, or those that open a board.
         * @description Ends every session that was minted before, whoever minted it: on the API within a second, on open sockets within two. With `user_id` and `board_id`, those to which both applies. A session that opens several boards ends whole. A session that is minted later works.
         *
         *     Needs the scope `write`.
         */
        delete: operations["deleteSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List writes and image reads, newest first. With `since`: a feed of new entries.
         * @description Needs the scope `read`.
         */
        get: operations["getAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export a board as JSON or OMC-JSON 2.8, even from the trash.
         * @description With `as_of`: the groups and cards as they were. The board itself is as it is now. A guest needs the history to be shared.
         *
         *     Needs the scope `read`.
         */
        get: operations["getBoardsByIdExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/boards/{id}/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import up to 100 remote URLs as cards. Safe to repeat.
         * @description Images and other files are stored. A web page becomes a link card. An item that the board already has is not imported again.
         *
         *     Fetching takes at most 60 seconds in total and 15 seconds for each item. An account fetches at most 8 URLs at a time. Items that are not fetched in that time fail with `upstream_error`: repeat the request.
         *
         *     Up to 5 redirects are followed. Images can have up to 25 MB, other files up to 100 MB. Only the first 1 MB of a page is read.
         *
         *     Needs the scope `write`.
         */
        post: operations["postBoardsByIdImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload an image of up to 25 MB. The body is the bytes of the image.
         * @description Needs the scope `write`.
         */
        post: operations["postUploads"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/uploads/from-url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fetch the file at a public https URL and store it: an image of up to 25 MB, another file of up to 100 MB.
         * @description Needs the scope `write`.
         */
        post: operations["postUploadsFromUrl"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/uploads/multipart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a multipart upload. The board’s owner needs a paid plan.
         * @description Needs the scope `write`.
         */
        post: operations["postUploadsMultipart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/uploads/multipart/parts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get signed URLs for the parts of a multipart upload.
         * @description Send each part to its URL with PUT. A URL accepts exactly the size of its part, and is valid for 60 minutes. Keep the `etag` header of each response.
         *
         *     Needs the scope `write`.
         */
        post: operations["postUploadsMultipartParts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/uploads/multipart/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete a multipart upload: the parts become the file. Safe to repeat.
         * @description Needs the scope `write`.
         */
        post: operations["postUploadsMultipartComplete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/uploads/multipart/abort": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Abort a multipart upload and discard its parts.
         * @description Needs the scope `write`.
         */
        post: operations["postUploadsMultipartAbort"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List files, newest first. With `since`: a feed of new uploads.
         * @description Needs the scope `read`.
         */
        get: operations["getImages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a file, or a resized image.
         * @description Send `Range` to get a part of the file. Send `If-None-Match` with an earlier `etag` to get a 304 if you already have the bytes. A 304 does not count against the rate limit. A URL with a `signature`, from `POST /images/urls`, needs no token.
         *
         *     Needs the scope `read`.
         */
        get: operations["getImagesByKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images/urls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get URLs of files that need no token, for `<img>` and `srcset`.
         * @description Each URL is signed for its file, width and end. It ends at a half hour, at most an hour from now, and never after the session that asks. Within a half hour the same request gets the same URLs, so browsers use what they have cached. A read by such a URL is audited under the account that asked for it. It counts for the address of the reader, not against the rate limit of the token.
         *
         *     Needs the scope `read`.
         */
        post: operations["postImagesUrls"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * JSON-RPC endpoint of the Model Context Protocol, for AI agents. Each tool needs the scope of its operation.
         * @description Needs the scope `read`.
         */
        post: operations["postMcp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the API description, OpenAPI 3.1.
         * @description This operation needs no token.
         */
        get: operations["getOpenapiJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "board.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A board was created.
         * @description A 2xx response within 10 seconds is a success. Otherwise the delivery is retried, up to 6 attempts in total. Verify the signature over the raw body before you parse the body.
         */
        post: operations["onBoardCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "board.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The name, the view or the parent of a board changed.
         * @description A 2xx response within 10 seconds is a success. Otherwise the delivery is retried, up to 6 attempts in total. Verify the signature over the raw body before you parse the body.
         */
        post: operations["onBoardUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "board.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A board was moved to the trash, or removed permanently.
         * @description A 2xx response within 10 seconds is a success. Otherwise the delivery is retried, up to 6 attempts in total. Verify the signature over the raw body before you parse the body.
         */
        post: operations["onBoardDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "board.restored": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A board was restored from the trash.
         * @description A 2xx response within 10 seconds is a success. Otherwise the delivery is retried, up to 6 attempts in total. Verify the signature over the raw body before you parse the body.
         */
        post: operations["onBoardRestored"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "card.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cards were added to a board.
         * @description A 2xx response within 10 seconds is a success. Otherwise the delivery is retried, up to 6 attempts in total. Verify the signature over the raw body before you parse the body.
         */
        post: operations["onCardCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "card.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The contents of cards changed.
         * @description A 2xx response within 10 seconds is a success. Otherwise the delivery is retried, up to 6 attempts in total. Verify the signature over the raw body before you parse the body.
         */
        post: operations["onCardUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "card.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cards were removed from a board.
         * @description A 2xx response within 10 seconds is a success. Otherwise the delivery is retried, up to 6 attempts in total. Verify the signature over the raw body before you parse the body.
         */
        post: operations["onCardDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "card.moved": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cards were moved to this board from another one.
         * @description A 2xx response within 10 seconds is a success. Otherwise the delivery is retried, up to 6 attempts in total. Verify the signature over the raw body before you parse the body.
         */
        post: operations["onCardMoved"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "image.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * An upload was completed.
         * @description A 2xx response within 10 seconds is a success. Otherwise the delivery is retried, up to 6 attempts in total. Verify the signature over the raw body before you parse the body.
         */
        post: operations["onImageCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A test delivery from `POST /webhooks/{id}/test`. Webhooks cannot subscribe to it.
         * @description A 2xx response within 10 seconds is a success. Otherwise the delivery is retried, up to 6 attempts in total. Verify the signature over the raw body before you parse the body.
         */
        post: operations["onWebhookTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description A resource that was written or read. */
        AuditEntry: {
            /** @description Id of the entry. */
            id: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            occurred_at: string;
            /** @description What was done, such as `board.create`, `card.update`, `image.read`. */
            action: string;
            /** @description Who did it. */
            actor: {
                /**
                 * Format: uuid
                 * @description Id of the account.
                 */
                user_id: string;
                /** @description Name of the account at that time. Null when the account was deleted. */
                display_name: string | null;
                /**
                 * Format: uuid
                 * @description Id of the token. Null when none was used, as in the settings.
                 */
                token_id: string | null;
                /**
                 * Format: uuid
                 * @description Id of the service account; for a session, of the one that minted it. Null when a person did.
                 */
                service_account_id: string | null;
                /** @description Only for a session that was minted for a user of another product: that user. */
                session_user?: {
                    /** @description The id that the product has for the user. */
                    id: string;
                    /** @description Name of the user. */
                    name: string | null;
                };
                /** @description OAuth client id of the connected application. Null for other tokens. */
                client_id: string | null;
                /** @description Present and true for a guest who came by a link. */
                guest?: boolean;
            };
            /** @description Method of the request. */
            method: string;
            /** @description Path of the request, without its query. */
            path: string;
            /** @description HTTP status of the answer. */
            status: number;
            /**
             * Format: uuid
             * @description Id of the workspace.
             */
            workspace_id: string | null;
            /**
             * Format: uuid
             * @description Id of the board.
             */
            board_id: string | null;
            /** @description What was written or read. */
            resource: {
                /** @description Type of the resource, such as `card`. */
                type: string | null;
                /** @description Id of the resource. */
                id: string | null;
            };
            /** @description Id of the request, as in the header `x-request-id`. */
            request_id: string;
            /** @description IP address of the client. Empty when the account was deleted. */
            ip: string;
        };
        /** @description A board: a canvas with cards on it. */
        Board: {
            /**
             * Format: uuid
             * @description Id of the board.
             */
            id: string;
            /** @description Changes with every change of the object, and never otherwise. Opaque. Send it as `if_version`, or in quotes as `If-Match`. */
            version: string;
            /** @description Name of the board, 1 to 200 characters. */
            name: string;
            /**
             * Format: uuid
             * @description Id of the board’s workspace.
             */
            workspace_id: string;
            /**
             * Format: uuid
             * @description Id of the parent board. Null for a top-level board, and when the caller may not see the parent.
             */
            parent_board_id: string | null;
            /**
             * @description How clients show the board.
             * @enum {string}
             */
            view: "canvas" | "list";
            /** @description Whether the board is in the trash. */
            deleted: boolean;
            /**
             * Format: date-time
             * @description When the board was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the board itself was last changed. Changes of its cards do not count.
             */
            updated_at: string | null;
            /**
             * Format: date
             * @description The day that it is scheduled for, `YYYY-MM-DD`.
             */
            scheduled_date: string | null;
            /**
             * Format: date
             * @description The last scheduled day, if there are several.
             */
            scheduled_end: string | null;
            /** @description The name of the scheduled day, such as `Day 3`. */
            day_label: string | null;
            /**
             * @description Status of the schedule: draft, published or cancelled.
             * @enum {string}
             */
            sched_status: "draft" | "published" | "cancelled";
            /** @description Version of the schedule. Each publication increases it by one. */
            sched_version: number;
            /**
             * Format: date-time
             * @description When the schedule was last published. Null: never.
             */
            sched_published_at: string | null;
            /** @description Any JSON stored with the card, or null. Lists contain it with `include=props`. */
            props?: {
                [key: string]: unknown;
            } | null;
            /** @description The card’s ids in other systems. Lists contain them with `include=identifiers`. */
            identifiers?: components["schemas"]["Identifier"][];
            /** @description Only in the answer to a batch with `on_conflict`: true when the board is new, false when it was updated. */
            created?: boolean;
        };
        /** @description A board was created. */
        BoardCreatedEvent: {
            /**
             * @description Name of the event.
             * @constant
             */
            type: "board.created";
            /** @description The resource that the event is about. */
            resource: {
                /**
                 * @description Type of the resource.
                 * @constant
                 */
                type: "board";
                /** @description The board’s id. */
                id: string;
            };
            /** @description The workspace that the event happened in. */
            workspace: {
                /**
                 * Format: uuid
                 * @description Id of the workspace.
                 */
                id: string;
            };
            /** @description The board that the event happened on. */
            board: {
                /**
                 * Format: uuid
                 * @description Id of the board.
                 */
                id: string;
            };
            data: components["schemas"]["BoardEventData"];
            /**
             * Format: date-time
             * @description When the event happened.
             */
            occurred_at: string;
        };
        /** @description A board was moved to the trash, or removed permanently. */
        BoardDeletedEvent: {
            /**
             * @description Name of the event.
             * @constant
             */
            type: "board.deleted";
            /** @description The resource that the event is about. */
            resource: {
                /**
                 * @description Type of the resource.
                 * @constant
                 */
                type: "board";
                /** @description The board’s id. */
                id: string;
            };
            /** @description The workspace that the event happened in. */
            workspace: {
                /**
                 * Format: uuid
                 * @description Id of the workspace.
                 */
                id: string;
            };
            /** @description The board that the event happened on. */
            board: {
                /**
                 * Format: uuid
                 * @description Id of the board.
                 */
                id: string;
            };
            data: components["schemas"]["BoardEventData"];
            /**
             * Format: date-time
             * @description When the event happened.
             */
            occurred_at: string;
        };
        /** @description The board after the change. */
        BoardEventData: {
            /** @description Name of the board, 1 to 200 characters. */
            name: string;
            /**
             * Format: uuid
             * @description Id of the parent board. Null for a top-level board, and when the caller may not see the parent.
             */
            parent_board_id: string | null;
            /**
             * @description How clients show the board.
             * @enum {string}
             */
            view: "canvas" | "list";
            /** @description The fields that changed. Empty when the board is new or was removed permanently. */
            changed: ("name" | "view" | "parent_board_id" | "deleted")[];
        };
        /** @description A board to create, or to update by its identifier. */
        BoardInput: {
            /** @description 1 to 200 characters, after spaces at both ends are removed. */
            name: string;
            /**
             * Format: uuid
             * @description Id of the workspace to create the board in. Without it: the workspace of the parent, else your own.
             */
            workspace_id?: string;
            /**
             * Format: uuid
             * @description Id of the board above it. Null for a top-level board.
             */
            parent_board_id?: string | null;
            /** @description How clients show the board: `list`, or `canvas`, which any other value stands for. */
            view?: unknown;
            /**
             * Format: date
             * @description The day that the board is scheduled for. `YYYY-MM-DD`. Null clears it.
             */
            scheduled_date?: string | null;
            /**
             * Format: date
             * @description The last day, if there are several. Needs a `scheduled_date`. `YYYY-MM-DD`. Null clears it.
             */
            scheduled_end?: string | null;
            /** @description The name of the scheduled day, such as `Day 3`. Null clears it. */
            day_label?: string | null;
            /** @description `false`: nobody is notified of the change of schedule. */
            notify?: boolean;
            /** @description Free properties: any JSON object of at most 16 KB and 5 levels. A write replaces the whole object. */
            props?: {
                [key: string]: unknown;
            } | null;
            /** @description Ids in other systems, at most 20. A write replaces the whole list. */
            identifiers?: components["schemas"]["Identifier"][] | null;
        };
        /** @description A board was restored from the trash. */
        BoardRestoredEvent: {
            /**
             * @description Name of the event.
             * @constant
             */
            type: "board.restored";
            /** @description The resource that the event is about. */
            resource: {
                /**
                 * @description Type of the resource.
                 * @constant
                 */
                type: "board";
                /** @description The board’s id. */
                id: string;
            };
            /** @description The workspace that the event happened in. */
            workspace: {
                /**
                 * Format: uuid
                 * @description Id of the workspace.
                 */
                id: string;
            };
            /** @description The board that the event happened on. */
            board: {
                /**
                 * Format: uuid
                 * @description Id of the board.
                 */
                id: string;
            };
            data: components["schemas"]["BoardEventData"];
            /**
             * Format: date-time
             * @description When the event happened.
             */
            occurred_at: string;
        };
        /** @description The name, the view or the parent of a board changed. */
        BoardUpdatedEvent: {
            /**
             * @description Name of the event.
             * @constant
             */
            type: "board.updated";
            /** @description The resource that the event is about. */
            resource: {
                /**
                 * @description Type of the resource.
                 * @constant
                 */
                type: "board";
                /** @description The board’s id. */
                id: string;
            };
            /** @description The workspace that the event happened in. */
            workspace: {
                /**
                 * Format: uuid
                 * @description Id of the workspace.
                 */
                id: string;
            };
            /** @description The board that the event happened on. */
            board: {
                /**
                 * Format: uuid
                 * @description Id of the board.
                 */
                id: string;
            };
            data: components["schemas"]["BoardEventData"];
            /**
             * Format: date-time
             * @description When the event happened.
             */
            occurred_at: string;
        };
        /** @description How many cards the owner of the board may still have. */
        Capacity: {
            /** @description How many cards the owner’s plan allows. */
            limit: number;
            /** @description How many cards the owner has, on all boards outside the trash. */
            used: number;
            /** @description How many cards can be added. */
            remaining: number;
        };
        /** @description A card on a board. */
        Card: {
            /** @description Id of the card, unique on its board. */
            id: string;
            /** @description What the card is: note, image, link, doc, video, audio, pdf, file, or another kind that only editors make. */
            kind: string;
            /** @description One line of text. */
            title: string | null;
            /** @description Plain text. For an image its caption, for audio its transcript. */
            body: string | null;
            /** @description Formatted text, sanitised. */
            html: string | null;
            /** @description The URL that the card links to. */
            url: string | null;
            /** @description Key of the image that the card shows. */
            image_key: string | null;
            /** @description Key of the file that the card holds. Absent when the card has no value for it. */
            file_key?: string;
            /** @description Key of the image that a video card shows before it plays. Absent when the card has no value for it. */
            poster_key?: string;
            /** @description The name that is shown for a pdf or another file. Absent when the card has no value for it. */
            file_name?: string;
            /** @description Media type of the file. Absent when the card has no value for it. */
            mime?: string;
            /** @description Extension of the file, without the dot. Absent when the card has no value for it. */
            ext?: string;
            /** @description What the image shows, for people who can’t see it. */
            alt: string | null;
            /** @description The color of the card. */
            color: string | null;
            /** @description Id of the group that the card is in. Absent when the card has no value for it. */
            group_id?: string;
            /** @description The line under a section heading. Absent when the card has no value for it. */
            sub?: string;
            /** @description Size of the file in bytes, as the client gave it. Absent when the card has no value for it. */
            size_bytes?: number;
            /** @description Left edge in canvas pixels, growing to the right. */
            x: number;
            /** @description Top edge in canvas pixels, growing downwards. */
            y: number;
            /** @description Width in canvas pixels. */
            w: number;
            /** @description Height in canvas pixels. */
            h: number;
            /** @description Stacking order: higher is in front. */
            z: number;
            /** @description Degrees, -180 to 180. */
            rotation: number;
            /** @description Whether the card is shown as a full-width heading. */
            section_header: boolean;
            /** @description Any JSON stored with the card, or null. Lists contain it with `include=props`. */
            props?: {
                [key: string]: unknown;
            } | null;
            /** @description The card’s ids in other systems. Lists contain them with `include=identifiers`. */
            identifiers?: components["schemas"]["Identifier"][];
            /** @description Image cards only: width of the stored image in pixels. Null when unknown. */
            width?: number | null;
            /** @description Image cards only: height of the stored image in pixels. Null when unknown. */
            height?: number | null;
            /** @description Image cards only: size of the stored file in bytes. Null when unknown. */
            bytes?: number | null;
            /** @description Only with `include=urls`: by field (`image_key`, `file_key`, `poster_key`) the URLs of the file that it names. */
            urls?: {
                [key: string]: {
                    /** @description URL of the file that needs no token, for at most an hour. */
                    url: string;
                    /** @description For `<img srcset>`: URLs of smaller images with their widths. Null when the file has no smaller images. */
                    srcset: string | null;
                };
            };
            /** @description Only with `include=raw`: all data of the card, in the editors’ own format, which may change. */
            raw?: unknown;
            /**
             * Format: uuid
             * @description Only for a removed card. Send it with the card to `POST /boards/{id}/cards` within 30 days, to restore also the data that the API does not show.
             */
            restore_token?: string;
            /** @description Only in the answer to a create with `on_conflict`: true when the card is new, false when it was updated. */
            created?: boolean;
            /** @description Changes with every change of the object, and never otherwise. Opaque. Send it as `if_version`, or in quotes as `If-Match`. */
            version: string;
            /**
             * Format: date-time
             * @description When the card was created. Null until the card is in the index.
             */
            created_at: string | null;
            /**
             * Format: date-time
             * @description When the card was last changed. Null until the card is in the index.
             */
            updated_at: string | null;
        };
        /** @description Cards were added to a board. */
        CardCreatedEvent: {
            /**
             * @description Name of the event.
             * @constant
             */
            type: "card.created";
            /** @description The resource that the event is about. */
            resource: {
                /**
                 * @description Type of the resource.
                 * @constant
                 */
                type: "board";
                /** @description The board’s id. The ids of the cards are in `data`. */
                id: string;
            };
            /** @description The workspace that the event happened in. */
            workspace: {
                /**
                 * Format: uuid
                 * @description Id of the workspace.
                 */
                id: string;
            };
            /** @description The board that the event happened on. */
            board: {
                /**
                 * Format: uuid
                 * @description Id of the board.
                 */
                id: string;
            };
            data: components["schemas"]["CardEventData"];
            /**
             * Format: date-time
             * @description When the event happened.
             */
            occurred_at: string;
        };
        /** @description Cards were removed from a board. */
        CardDeletedEvent: {
            /**
             * @description Name of the event.
             * @constant
             */
            type: "card.deleted";
            /** @description The resource that the event is about. */
            resource: {
                /**
                 * @description Type of the resource.
                 * @constant
                 */
                type: "board";
                /** @description The board’s id. The ids of the cards are in `data`. */
                id: string;
            };
            /** @description The workspace that the event happened in. */
            workspace: {
                /**
                 * Format: uuid
                 * @description Id of the workspace.
                 */
                id: string;
            };
            /** @description The board that the event happened on. */
            board: {
                /**
                 * Format: uuid
                 * @description Id of the board.
                 */
                id: string;
            };
            data: components["schemas"]["CardEventData"];
            /**
             * Format: date-time
             * @description When the event happened.
             */
            occurred_at: string;
        };
        /** @description The cards that one operation changed on a board. */
        CardEventData: {
            /** @description How many cards the event is about. */
            count: number;
            /** @description Ids of the first 25 of these cards. */
            card_ids: string[];
            /**
             * Format: uuid
             * @description Only for `card.moved`: the previous board of the cards.
             */
            from_board_id?: string;
        };
        /** @description A card that matches a search. */
        CardHit: {
            /** @description Id of the card. */
            id: string;
            /**
             * Format: uuid
             * @description Id of the board.
             */
            board_id: string;
            /** @description Kind of the card. */
            kind: string;
            /** @description Title of the card. */
            title: string | null;
            /** @description Up to 300 characters of the body. A match in the body is within the excerpt. */
            excerpt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_at: string;
        };
        /** @description A card to create. */
        CardInput: {
            /** @description What the card is: one of note, image, link, doc, video, audio, pdf, file. Required on create. */
            kind?: string;
            /** @description One line of text. Null clears it, as for every text field. */
            title?: string | null;
            /** @description Plain text. For an image its caption, for audio its transcript. */
            body?: string | null;
            /** @description Formatted text. Scripts, styles and unknown tags are removed. */
            html?: string | null;
            /** @description An http, https or mailto URL that the card links to. */
            url?: string | null;
            /** @description Key of the uploaded image that the card shows. */
            image_key?: string | null;
            /** @description Key of the uploaded file that the card holds. */
            file_key?: string | null;
            /** @description Key of the uploaded image that a video card shows before it plays. */
            poster_key?: string | null;
            /** @description The name that is shown for a pdf or another file. */
            file_name?: string | null;
            /** @description Media type of the file, such as `video/mp4`. */
            mime?: string | null;
            /** @description Extension of the file, without the dot. */
            ext?: string | null;
            /** @description What the image shows, for people who can’t see it. */
            alt?: string | null;
            /** @description The color of the card, as editors write it, such as `#ffd966`. */
            color?: string | null;
            /** @description Id of the group that the card is in. Null takes it out. */
            group_id?: string | null;
            /** @description The line under a section heading. */
            sub?: string | null;
            /** @description Size of the file in bytes, rounded. */
            size_bytes?: number | null;
            /** @description Left edge in canvas pixels, growing to the right. Rounded. Without `x` and `y` a new card gets a free place. */
            x?: number;
            /** @description Top edge in canvas pixels, growing downwards. Rounded. Without `x` and `y` a new card gets a free place. */
            y?: number;
            /** @description Width in canvas pixels, clamped to 40 to 4000. 280 on create when absent. */
            w?: number;
            /** @description Height in canvas pixels, clamped to 40 to 4000. 180 on create when absent. */
            h?: number;
            /** @description Stacking order: higher is in front. A new card without it is above all others. */
            z?: number;
            /** @description Degrees, wrapped into -180 to 180. */
            rotation?: number;
            /** @description Whether the card is shown as a full-width heading. */
            section_header?: boolean;
            /** @description Free properties: any JSON object of at most 16 KB and 5 levels. A write replaces the whole object. */
            props?: {
                [key: string]: unknown;
            } | null;
            /** @description Ids in other systems, at most 20. A write replaces the whole list. */
            identifiers?: components["schemas"]["Identifier"][] | null;
            /**
             * Format: uuid
             * @description The `restore_token` of a removed card, at most 30 days old. What the API does not show of that card is restored with it.
             */
            restore_token?: string;
        };
        /** @description Cards were moved to this board from another one. */
        CardMovedEvent: {
            /**
             * @description Name of the event.
             * @constant
             */
            type: "card.moved";
            /** @description The resource that the event is about. */
            resource: {
                /**
                 * @description Type of the resource.
                 * @constant
                 */
                type: "board";
                /** @description The board’s id. The ids of the cards are in `data`. */
                id: string;
            };
            /** @description The workspace that the event happened in. */
            workspace: {
                /**
                 * Format: uuid
                 * @description Id of the workspace.
                 */
                id: string;
            };
            /** @description The board that the event happened on. */
            board: {
                /**
                 * Format: uuid
                 * @description Id of the board.
                 */
                id: string;
            };
            data: components["schemas"]["CardEventData"];
            /**
             * Format: date-time
             * @description When the event happened.
             */
            occurred_at: string;
        };
        /** @description The fields of a card to change. */
        CardPatch: {
            /** @description What the card is: one of note, image, link, doc, video, audio, pdf, file. Required on create. */
            kind?: string;
            /** @description One line of text. Null clears it, as for every text field. */
            title?: string | null;
            /** @description Plain text. For an image its caption, for audio its transcript. */
            body?: string | null;
            /** @description Formatted text. Scripts, styles and unknown tags are removed. */
            html?: string | null;
            /** @description An http, https or mailto URL that the card links to. */
            url?: string | null;
            /** @description Key of the uploaded image that the card shows. */
            image_key?: string | null;
            /** @description Key of the uploaded file that the card holds. */
            file_key?: string | null;
            /** @description Key of the uploaded image that a video card shows before it plays. */
            poster_key?: string | null;
            /** @description The name that is shown for a pdf or another file. */
            file_name?: string | null;
            /** @description Media type of the file, such as `video/mp4`. */
            mime?: string | null;
            /** @description Extension of the file, without the dot. */
            ext?: string | null;
            /** @description What the image shows, for people who can’t see it. */
            alt?: string | null;
            /** @description The color of the card, as editors write it, such as `#ffd966`. */
            color?: string | null;
            /** @description Id of the group that the card is in. Null takes it out. */
            group_id?: string | null;
            /** @description The line under a section heading. */
            sub?: string | null;
            /** @description Size of the file in bytes, rounded. */
            size_bytes?: number | null;
            /** @description Left edge in canvas pixels, growing to the right. Rounded. Without `x` and `y` a new card gets a free place. */
            x?: number;
            /** @description Top edge in canvas pixels, growing downwards. Rounded. Without `x` and `y` a new card gets a free place. */
            y?: number;
            /** @description Width in canvas pixels, clamped to 40 to 4000. 280 on create when absent. */
            w?: number;
            /** @description Height in canvas pixels, clamped to 40 to 4000. 180 on create when absent. */
            h?: number;
            /** @description Stacking order: higher is in front. A new card without it is above all others. */
            z?: number;
            /** @description Degrees, wrapped into -180 to 180. */
            rotation?: number;
            /** @description Whether the card is shown as a full-width heading. */
            section_header?: boolean;
            /** @description Free properties: any JSON object of at most 16 KB and 5 levels. A write replaces the whole object. */
            props?: {
                [key: string]: unknown;
            } | null;
            /** @description Ids in other systems, at most 20. A write replaces the whole list. */
            identifiers?: components["schemas"]["Identifier"][] | null;
            /** @description The `body` that your edit started from. With it your edit is merged into what others wrote since; without it `body` replaces theirs. A merged text that would be longer than `body` may be is refused. */
            body_base?: string | null;
        };
        /** @description Where a layout puts a card. */
        CardPlace: {
            /** @description Id of the card. */
            id: string;
            /** @description Left edge in canvas pixels. */
            x: number;
            /** @description Top edge in canvas pixels. */
            y: number;
            /** @description Width in canvas pixels. */
            w: number;
            /** @description Height in canvas pixels. */
            h: number;
        };
        /** @description The contents of cards changed. */
        CardUpdatedEvent: {
            /**
             * @description Name of the event.
             * @constant
             */
            type: "card.updated";
            /** @description The resource that the event is about. */
            resource: {
                /**
                 * @description Type of the resource.
                 * @constant
                 */
                type: "board";
                /** @description The board’s id. The ids of the cards are in `data`. */
                id: string;
            };
            /** @description The workspace that the event happened in. */
            workspace: {
                /**
                 * Format: uuid
                 * @description Id of the workspace.
                 */
                id: string;
            };
            /** @description The board that the event happened on. */
            board: {
                /**
                 * Format: uuid
                 * @description Id of the board.
                 */
                id: string;
            };
            data: components["schemas"]["CardEventData"];
            /**
             * Format: date-time
             * @description When the event happened.
             */
            occurred_at: string;
        };
        /** @description An entry of the delivery log: an attempt, or a delivery that waits or is being sent. */
        Delivery: {
            /**
             * Format: uuid
             * @description Id of this entry.
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the delivery, as in the header `X-Service-Delivery`. All its attempts have the same id.
             */
            delivery_id: string;
            /**
             * Format: uuid
             * @description Id of the webhook.
             */
            webhook_id: string;
            /** @description Name of the event, such as `card.created`. */
            event: string;
            /**
             * @description `failed`: another attempt follows. `given_up`: no other attempt follows.
             * @enum {string}
             */
            status: "waiting" | "sending" | "succeeded" | "failed" | "given_up";
            /** @description Number of the attempt, 1 to 6. */
            attempt: number;
            /** @description How many attempts may follow this one. */
            attempts_left: number;
            /** @description HTTP status of the receiver’s response. Null without a response. */
            status_code: number | null;
            /** @description Duration of the attempt in milliseconds. Null until it has ended. */
            duration_ms: number | null;
            /** @description What went wrong. Null without an error. */
            error: string | null;
            /** @description The exact request body. */
            payload: string;
            /**
             * Format: date-time
             * @description When the delivery was queued.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the attempt was made. Null before it is made.
             */
            attempted_at: string | null;
            /**
             * Format: date-time
             * @description When the next attempt is due. Null when no attempt is due.
             */
            next_attempt_at: string | null;
        };
        /** @description The body of every error. */
        Error: {
            /** @description What is wrong and what is accepted, in English. The wording may change. */
            error: string;
            /**
             * @description The kind of error. Codes never change: branch on them.
             * @enum {string}
             */
            code: "bad_request" | "invalid_token" | "limit_reached" | "insufficient_scope" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "idempotency_in_progress" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "rate_limited" | "internal_error" | "upstream_rejected" | "upstream_error" | "session_unavailable" | "storage_unavailable";
        };
        /** @description A group of cards on a board. */
        Group: {
            /** @description Id of the group, unique on its board. */
            id: string;
            /** @description Name of the group, 1 to 200 characters. */
            name: string;
            /** @description Color of the group. Null: the default. */
            color: string | null;
            /**
             * @description `box` draws a rectangle around the cards, `hug` follows their outline.
             * @enum {string}
             */
            shape: "box" | "hug";
            /** @description Whether the outline is drawn. */
            outline: boolean;
            /** @description How many cards the group has. */
            card_count: number;
            /**
             * Format: date-time
             * @description When the group was created. Null when that is unknown.
             */
            created_at: string | null;
        };
        /** @description A change of a board. */
        HistoryEntry: {
            /**
             * Format: uuid
             * @description Id of the board.
             */
            board_id: string;
            /** @description Position of the board after the change, for `as_of`. */
            position: number;
            /** @description Position of the board before the change, for `as_of`. */
            before: number;
            /**
             * Format: date-time
             * @description When the change was made; for a burst of edits, the last of them.
             */
            at: string;
            /**
             * Format: date-time
             * @description When it began. A burst of edits by an editor is one entry, and takes a minute at most.
             */
            began_at: string;
            /**
             * @description How it was made. `agent`: a request of a service account or a connected application. `unknown`: an older version did not record it.
             * @enum {string}
             */
            by: "editor" | "api" | "agent" | "import" | "move" | "unknown";
            /** @description Who made it. Several accounts when their edits arrived at the same moment. */
            actors: {
                /**
                 * Format: uuid
                 * @description Id of the account.
                 */
                user_id: string;
                /** @description Its name. Null when the account was deleted, or has none. */
                display_name: string | null;
                /** @description Present and true for a guest who came by a link. */
                guest?: boolean;
                /** @description Only for a session that was minted for a user of another product: that user. */
                session_user?: {
                    /** @description The id that the product has for the user. */
                    id: string;
                    /** @description Name of the user. */
                    name: string | null;
                };
            }[];
            /** @description For a request: its action, such as `card.create`. */
            action: string | null;
            /** @description For a request: its id, as in the header `x-request-id`. */
            request_id: string | null;
            /**
             * Format: uuid
             * @description For a request: the id of its operation. A move has the same one on both boards.
             */
            operation_id: string | null;
            /** @description Tokens or sessions that were used. Empty for a guest. */
            token_ids: string[];
            /**
             * Format: uuid
             * @description Id of the board.
             */
            other_board_id: string | null;
            /** @description How many cards and groups changed. */
            counts: {
                /** @description Cards added. */
                added: number;
                /** @description Cards changed. */
                changed: number;
                /** @description Cards removed. */
                removed: number;
                /** @description Groups added, changed or removed. */
                groups: number;
            };
            /** @description The first 100 of the cards. */
            card_ids: string[];
            /** @description Fields that were changed. `*`: the whole card was replaced. */
            fields: string[];
            /** @description The change in a sentence. */
            summary: string;
        };
        /** @description The id of a board or a card in another system. */
        Identifier: {
            /** @description Name of the other system, such as `shotgrid`. */
            scope: string;
            /** @description The id in that system. */
            value: string;
        };
        /** @description A board, card or image with the identifier. */
        IdentifierMatch: {
            /**
             * @description Type of the match.
             * @enum {string}
             */
            type: "board" | "card" | "image";
            /** @description Id of the board or the card, or key of the image. */
            id: string;
            /**
             * Format: uuid
             * @description Id of the board.
             */
            board_id: string;
            /**
             * Format: uuid
             * @description Id of the workspace.
             */
            workspace_id: string;
        };
        /** @description An upload was completed. */
        ImageCreatedEvent: {
            /**
             * @description Name of the event.
             * @constant
             */
            type: "image.created";
            /** @description The resource that the event is about. */
            resource: {
                /**
                 * @description Type of the resource.
                 * @constant
                 */
                type: "image";
                /** @description The file’s key. */
                id: string;
            };
            /** @description The workspace that the event happened in. */
            workspace: {
                /**
                 * Format: uuid
                 * @description Id of the workspace.
                 */
                id: string;
            };
            /** @description The board that the file was uploaded for. Null: none. */
            board: {
                /**
                 * Format: uuid
                 * @description Id of the board.
                 */
                id: string;
            } | null;
            data: components["schemas"]["ImageEventData"];
            /**
             * Format: date-time
             * @description When the event happened.
             */
            occurred_at: string;
        };
        /** @description The file that was uploaded. */
        ImageEventData: {
            /** @description Size in bytes. Null when it is unknown. */
            bytes: number | null;
            /** @description Width in pixels. Null for a file that is not an image. */
            width: number | null;
            /** @description Height in pixels. Null for a file that is not an image. */
            height: number | null;
            /** @description Media type of the file, detected from its contents. */
            content_type: string;
        };
        /** @description A file of any type. The name says image for historical reasons. */
        ImageRecord: {
            /** @description Key of the file, for `image_key` or `file_key` of a card. */
            image_key: string;
            /** @description Size in bytes. Null when it is unknown. */
            bytes: number | null;
            /** @description Width in pixels. Null for a file that is not an image. */
            width: number | null;
            /** @description Height in pixels. Null for a file that is not an image. */
            height: number | null;
            /**
             * Format: uuid
             * @description Id of the board that the file was uploaded for. Null: none.
             */
            board_id: string | null;
            /**
             * Format: uuid
             * @description Id of the workspace.
             */
            workspace_id: string;
            /** @description Media type of the file, detected from its contents. */
            content_type: string;
            /**
             * Format: date-time
             * @description When it was uploaded.
             */
            created_at: string;
        };
        /** @description A URL to import as a card. */
        ImportItem: {
            /** @description An https URL on a public host. It becomes the `url` of the card. */
            url: string;
            /** @description Title of the card. Default: the title of the page, null for a file. The name of a file other than an image is in `file_name`. */
            title?: string | null;
            /** @description Text of the card. */
            caption?: string | null;
            /** @description Free properties: any JSON object of at most 16 KB and 5 levels. A write replaces the whole object. */
            props?: {
                [key: string]: unknown;
            } | null;
            /** @description Ids in other systems, at most 20. A write replaces the whole list. */
            identifiers?: components["schemas"]["Identifier"][] | null;
            /** @description Left edge in canvas pixels, growing to the right. Rounded. Without `x` and `y` a new card gets a free place. */
            x?: number;
            /** @description Top edge in canvas pixels, growing downwards. Rounded. Without `x` and `y` a new card gets a free place. */
            y?: number;
            /** @description Width in canvas pixels, clamped to 40 to 4000. 280 on create when absent. */
            w?: number;
            /** @description Height in canvas pixels, clamped to 40 to 4000. 180 on create when absent. */
            h?: number;
        };
        /** @description The result of one item of an import. */
        ImportResult: {
            /** @description The URL of the item. */
            url: string;
            /**
             * @description `existing`: the board already has a card for it. `valid`: it passed the checks of `dry_run`.
             * @enum {string}
             */
            status: "created" | "existing" | "failed" | "valid";
            /** @description Id of the card. Null without one. */
            card_id: string | null;
            /** @description Why the item failed, as text. Null when it did not. */
            error: string | null;
            /** @description Why the item failed, as an error code. Null when it did not. */
            code: ("bad_request" | "invalid_token" | "limit_reached" | "insufficient_scope" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "idempotency_in_progress" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "rate_limited" | "internal_error" | "upstream_rejected" | "upstream_error" | "session_unavailable" | "storage_unavailable") | null;
        };
        /** @description The main fields of a card, from the index. The index may be some seconds behind an open editor. */
        IndexCard: {
            /** @description Id of the card. */
            id: string;
            /** @description What the card is: note, image, link, doc, video, audio, pdf, file, or another kind that only editors make. */
            kind: string;
            /** @description One line of text. */
            title: string | null;
            /** @description Key of the image that the card shows. */
            image_key: string | null;
            /** @description Left edge in canvas pixels, growing to the right. */
            x: number;
            /** @description Top edge in canvas pixels, growing downwards. */
            y: number;
            /** @description The card’s ids in other systems. Lists contain them with `include=identifiers`. */
            identifiers?: components["schemas"]["Identifier"][];
            /** @description Changes with every change of the object, and never otherwise. Opaque. Send it as `if_version`, or in quotes as `If-Match`. */
            version: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_at: string;
        };
        /** @description An invitation that can still be accepted, once. */
        Invitation: {
            /**
             * Format: uuid
             * @description Id of the invitation.
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the workspace.
             */
            workspace_id: string;
            /**
             * Format: uuid
             * @description Null: the whole workspace.
             */
            board_id: string | null;
            /** @description Only the account with this address can accept. Null: any account that has the link. */
            email: string | null;
            /**
             * @description The role that the person gets. `owner`: the workspace is transferred.
             * @enum {string}
             */
            role: "owner" | "editor" | "viewer";
            /** @description With `board_id`: whether the person also sees the history of the board. */
            history: boolean;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it expires.
             */
            expires_at: string;
        };
        /** @description A link that lets whoever has it open one board, as a guest with a name. */
        Link: {
            /**
             * Format: uuid
             * @description Id of the link.
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the board.
             */
            board_id: string;
            /** @description Name of the link, for you. */
            name: string | null;
            /**
             * @description `editor`: guests change the board. `viewer`: they read it.
             * @enum {string}
             */
            role: "editor" | "viewer";
            /** @description Whether guests need a password. */
            has_password: boolean;
            /**
             * Format: date-time
             * @description From when on guests see the history of the board. Null: they do not see it.
             */
            history_since: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description From then on the link does not work, and its guests are disconnected. Null: never.
             */
            expires_at: string | null;
            /** @description How many guests came by it. */
            uses: number;
            /**
             * Format: date-time
             * @description When the last guest came. Null: none has come.
             */
            last_used_at: string | null;
        };
        /** @description A person who can see all boards of a workspace. */
        Member: {
            /**
             * Format: uuid
             * @description Id of the account.
             */
            user_id: string;
            /** @description E-mail address of the account. */
            email: string;
            /** @description Name of the account. Null when it has none. */
            display_name: string | null;
            /**
             * @description `owner`: manages who has access, and pays. `editor`: changes boards. `viewer`: reads them.
             * @enum {string}
             */
            role: "owner" | "editor" | "viewer";
        };
        /** @description A moment of a board that has a name, and is kept until it is deleted. */
        NamedVersion: {
            /**
             * Format: uuid
             * @description Id of the version. It can be used as `as_of`.
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the board.
             */
            board_id: string;
            /** @description Its name. */
            name: string;
            /** @description Position in the history of the board. */
            position: number;
            /**
             * Format: date-time
             * @description The moment that it names.
             */
            at: string;
            /**
             * Format: date-time
             * @description When the board had become like this. Null when that was no longer known.
             */
            changed_at: string | null;
            /** @description The account that named it. */
            created_by: {
                /**
                 * Format: uuid
                 * @description Id of the account.
                 */
                user_id: string;
                /** @description Its name. Null when the account was deleted, or has none. */
                display_name: string | null;
            };
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
        };
        /** @description A message to the account about a change. */
        Notification: {
            /**
             * Format: uuid
             * @description Id of the notification.
             */
            id: string;
            /** @description What happened: `schedule.changed` or `webhook.disabled`. */
            type: string;
            /**
             * Format: uuid
             * @description Id of the workspace.
             */
            workspace_id: string | null;
            /**
             * Format: uuid
             * @description Id of the board.
             */
            board_id: string | null;
            /** @description For `schedule.changed`: the board’s name and schedule, the schedule `before`, and the `actor`. For `webhook.disabled`: `webhook_id`, `name`, `url` and `reason`. */
            data: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the account marked it as read. Null: not yet.
             */
            read_at: string | null;
        };
        /** @description Somebody who is on a board at the moment. */
        Present: {
            /** @description Number of the client, as in awareness. A person with two windows is there twice. */
            client_id: number;
            /** @description The account, as the service knows it. */
            account: {
                /**
                 * Format: uuid
                 * @description Id of the account.
                 */
                id: string;
                /** @description Its name. */
                name: string | null;
                /** @description Present and true for a guest who came by a link. */
                guest?: boolean;
                /** @description Only for a session that was minted for a user of another product: that user. */
                session_user?: {
                    /** @description The id that the product has for the user. */
                    id: string;
                    /** @description Name of the user. */
                    name: string | null;
                    /** @description Color of the user. */
                    color: string | null;
                    /** @description URL of a picture of the user. */
                    avatar_url: string | null;
                    /**
                     * Format: uuid
                     * @description The service account that minted the session. Null when a person did.
                     */
                    service_account_id: string | null;
                };
            };
            /** @description Whether it is a service account, an application or a client of the API. */
            agent: boolean;
            /** @description Whether it may not write on the board. */
            read_only: boolean;
            /** @description What the client tells about itself, such as `cursor`. */
            state: {
                [key: string]: unknown;
            };
        };
        /** @description An entry of a change feed: a card that was removed from the board, or moved to another board. */
        RemovedCard: {
            /** @description Id of the card. */
            id: string;
            /**
             * @description Always true.
             * @constant
             */
            deleted: true;
            /**
             * Format: date-time
             * @description When the card left the board.
             */
            updated_at: string;
        };
        /** @description An account for an unattended integration. It belongs to a workspace and has tokens. It can’t sign in. */
        ServiceAccount: {
            /**
             * Format: uuid
             * @description Id of the service account.
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the workspace.
             */
            workspace_id: string;
            /** @description Name of the service account, for people. */
            name: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was retired. Null while it is in use.
             */
            retired_at: string | null;
        };
        /** @description The rights of a user of your product, for a time. */
        Session: {
            /**
             * Format: uuid
             * @description Id of the workspace.
             */
            workspace_id: string;
            /** @description Null: all boards of the workspace. */
            board_ids: string[] | null;
            /**
             * @description What the session may do on its boards.
             * @enum {string}
             */
            role: "viewer" | "editor";
            /** @description What it may do: `read`, `write`, `delete`. */
            scopes: string[];
            /** @description Whether it shows the history of its boards. */
            history: boolean;
            /** @description Its user. */
            user: {
                /** @description Your own id of the user, 1 to 200 characters. It belongs to the workspace: the same id is the same user, whoever mints. */
                id: string;
                /**
                 * Format: uuid
                 * @description Id of the user’s account here, as in `user_id` of history and audit.
                 */
                account_id: string;
                /** @description Name of the user, as others see it. */
                name: string;
                /** @description Color of the user, such as `#ffd966`. */
                color: string | null;
                /** @description URL of a picture of the user, http or https. */
                avatar_url: string | null;
                /** @description Whether the user is a program. Others see it marked as an agent. */
                agent: boolean;
            };
            /**
             * Format: date-time
             * @description When it was minted.
             */
            issued_at: string;
            /**
             * Format: date-time
             * @description When it ends. Not later than the token that minted it.
             */
            expires_at: string;
        };
        /** @description A person who has one board, without its workspace and without its child boards. */
        Share: {
            /**
             * Format: uuid
             * @description Id of the account.
             */
            user_id: string;
            /** @description E-mail address of the account. */
            email: string;
            /** @description Name of the account. Null when it has none. */
            display_name: string | null;
            /**
             * @description `editor`: changes the board. `viewer`: reads it.
             * @enum {string}
             */
            role: "editor" | "viewer";
            /**
             * Format: date-time
             * @description From when on the account sees the history of the board. Null: it does not see it.
             */
            history_since: string | null;
        };
        /** @description An access token, without its secret part. */
        Token: {
            /**
             * Format: uuid
             * @description Id of the token.
             */
            id: string;
            /** @description Name of the token, for people. */
            name: string;
            /** @description The first characters of the token, to recognise it by. */
            prefix: string;
            /** @description What the token may do: `read`, `write`, `delete`. */
            scopes: string[];
            /** @description Requests that the token may send in an hour. Null: the default of this instance. */
            rate_limit: number | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it expires. Null: never.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was last used, to the minute. Null: never.
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked. Null: it was not.
             */
            revoked_at: string | null;
        };
        /** @description A board in a tree. */
        TreeEntry: {
            /**
             * Format: uuid
             * @description Id of the board.
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the board above it. Null at the top level.
             */
            parent_board_id: string | null;
            /** @description Its name. */
            name: string;
            /** @description Levels below the root, or below the top level, which is 0. */
            depth: number;
            /** @description How many cards are on it. */
            card_count: number;
            /**
             * Format: date-time
             * @description When the board itself was last changed.
             */
            updated_at: string | null;
            /** @description Whether it is in the trash. */
            deleted: boolean;
        };
        /** @description A URL that events are posted to. */
        Webhook: {
            /**
             * Format: uuid
             * @description Id of the webhook.
             */
            id: string;
            /**
             * Format: uuid
             * @description Id of the workspace.
             */
            workspace_id: string;
            /** @description The URL that events are posted to. */
            url: string;
            /** @description The events that it subscribes to. `*`: all events. */
            events: string[];
            /** @description Name of the webhook, for people. It may be empty. */
            name: string;
            /** @description Whether events are posted to it. */
            active: boolean;
            /** @description Why the service switched the webhook off. Absent when it did not. */
            disabled_reason?: string;
            /**
             * Format: date-time
             * @description Until then, deliveries are also signed with the previous secret. Absent when that time is over.
             */
            previous_secret_valid_until?: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_at: string;
        };
        /** @description A test delivery from `POST /webhooks/{id}/test`. Webhooks cannot subscribe to it. */
        WebhookTestEvent: {
            /**
             * @description Name of the event.
             * @constant
             */
            type: "webhook.test";
            /** @description The resource that the event is about. */
            resource: {
                /**
                 * @description Type of the resource.
                 * @constant
                 */
                type: "webhook";
                /** @description The webhook’s id. */
                id: string;
            };
            /** @description The workspace that the event happened in. */
            workspace: {
                /**
                 * Format: uuid
                 * @description Id of the workspace.
                 */
                id: string;
            };
            /** @description Always null. */
            board: null;
            /** @description Empty. */
            data: Record<string, never>;
            /**
             * Format: date-time
             * @description When the event happened.
             */
            occurred_at: string;
        };
        /** @description A workspace. It contains boards, files and members. */
        Workspace: {
            /**
             * Format: uuid
             * @description Id of the workspace.
             */
            id: string;
            /** @description Name of the workspace. */
            name: string;
            /**
             * @description What the account is in it. `owner`: manages who has access, and pays. `editor`: changes boards. `viewer`: reads them.
             * @enum {string}
             */
            role: "owner" | "editor" | "viewer";
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getRoot: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Corkboard",
                     *       "version": "1.0.0",
                     *       "documentation": "https://corkboard.example/docs",
                     *       "openapi": "https://corkboard.example/api/v1/openapi.json",
                     *       "scopes": [
                     *         "read",
                     *         "write",
                     *         "delete"
                     *       ],
                     *       "endpoints": [
                     *         {
                     *           "method": "GET",
                     *           "path": "/",
                     *           "scope": "read",
                     *           "summary": "List the endpoints and the scopes of the token."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/me",
                     *           "scope": "read",
                     *           "summary": "Read the account that the token belongs to."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/workspaces",
                     *           "scope": "read",
                     *           "summary": "List the workspaces that the account can see."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/workspaces/{id}/members",
                     *           "scope": "read",
                     *           "summary": "List the members of a workspace, the owner first. Only the owner can."
                     *         },
                     *         {
                     *           "method": "PATCH",
                     *           "path": "/workspaces/{id}/members/{userId}",
                     *           "scope": "write",
                     *           "summary": "Change the role of a member. Only the owner can."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/workspaces/{id}/members/{userId}",
                     *           "scope": "write",
                     *           "summary": "Remove a member, or leave a workspace."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/workspaces/{id}/invitations",
                     *           "scope": "read",
                     *           "summary": "List the invitations that can still be accepted, newest first. Only the owner can."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/workspaces/{id}/invitations",
                     *           "scope": "write",
                     *           "summary": "Invite a person to a workspace or to a board. Only the owner can."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/workspaces/{id}/invitations/{invitationId}",
                     *           "scope": "write",
                     *           "summary": "Revoke an invitation. Its link stops working. Only the owner can."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/invitations/accept",
                     *           "scope": "write",
                     *           "summary": "Accept an invitation to a workspace or a board."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/notifications",
                     *           "scope": "read",
                     *           "summary": "List the notifications of the account, newest first. With `since`: a feed of new ones."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/notifications/read",
                     *           "scope": "write",
                     *           "summary": "Mark notifications of the account as read."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/search",
                     *           "scope": "read",
                     *           "summary": "Search boards by name and cards by title and body, best match first."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards",
                     *           "scope": "read",
                     *           "summary": "List boards, or follow their changes."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards",
                     *           "scope": "write",
                     *           "summary": "Create a board, or up to 500 at once."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/boards",
                     *           "scope": "delete",
                     *           "summary": "Put up to 500 boards into the trash. Each can be restored for 30 days."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards/move",
                     *           "scope": "write",
                     *           "summary": "Move up to 500 boards below another one, or to the top level."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/tree",
                     *           "scope": "read",
                     *           "summary": "Read the tree of boards below a board, or of a workspace."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/{id}",
                     *           "scope": "read",
                     *           "summary": "Read a board and its remaining card capacity."
                     *         },
                     *         {
                     *           "method": "PATCH",
                     *           "path": "/boards/{id}",
                     *           "scope": "write",
                     *           "summary": "Change the fields of a board that are sent."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/boards/{id}",
                     *           "scope": "delete",
                     *           "summary": "Put a board into the trash. It can be restored for 30 days."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards/{id}/restore",
                     *           "scope": "write",
                     *           "summary": "Bring a board back from the trash."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/{id}/history",
                     *           "scope": "read",
                     *           "summary": "List the changes of a board, newest first."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/{id}/diff",
                     *           "scope": "read",
                     *           "summary": "Compare a board at two moments, field by field."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards/{id}/restore-to",
                     *           "scope": "write",
                     *           "summary": "Bring a board, or some of its cards, back to what they were."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards/{id}/undo",
                     *           "scope": "write",
                     *           "summary": "Undo what a request, an import or an actor changed on a board."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/{id}/presence",
                     *           "scope": "read",
                     *           "summary": "List who is on a board at the moment: open editors, and agents that are shown."
                     *         },
                     *         {
                     *           "method": "PUT",
                     *           "path": "/boards/{id}/presence",
                     *           "scope": "write",
                     *           "summary": "Show the caller on a board, as an agent, for a while."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/boards/{id}/presence",
                     *           "scope": "write",
                     *           "summary": "Stop showing the caller on a board."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/{id}/versions",
                     *           "scope": "read",
                     *           "summary": "List the named versions of a board, the latest moment first."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards/{id}/versions",
                     *           "scope": "write",
                     *           "summary": "Give the board as it is now, or as it was, a name."
                     *         },
                     *         {
                     *           "method": "PATCH",
                     *           "path": "/boards/{id}/versions/{versionId}",
                     *           "scope": "write",
                     *           "summary": "Rename a version."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/boards/{id}/versions/{versionId}",
                     *           "scope": "write",
                     *           "summary": "Delete a version. The moment is then kept as long as the rest of the history."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/{id}/shares",
                     *           "scope": "read",
                     *           "summary": "List the accounts with which a board is shared. Only the owner of the workspace can."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards/{id}/shares",
                     *           "scope": "write",
                     *           "summary": "Share a board with an account that you know. Only the owner of the workspace can."
                     *         },
                     *         {
                     *           "method": "PATCH",
                     *           "path": "/boards/{id}/shares/{userId}",
                     *           "scope": "write",
                     *           "summary": "Change a share of a board. Only the owner of the workspace can."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/boards/{id}/shares/{userId}",
                     *           "scope": "write",
                     *           "summary": "End a share of a board. The owner of the workspace can, and the account itself."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/{id}/links",
                     *           "scope": "read",
                     *           "summary": "List the guest links of a board. Only the owner of the workspace can."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards/{id}/links",
                     *           "scope": "write",
                     *           "summary": "Create a guest link of a board. Only this answer contains its token."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/boards/{id}/links/{linkId}",
                     *           "scope": "write",
                     *           "summary": "Delete a guest link. Its guests are disconnected within two seconds."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/links/open",
                     *           "scope": null,
                     *           "summary": "Open a guest link. The answer has a token for the one board, as a guest with this name."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/{id}/cards",
                     *           "scope": "read",
                     *           "summary": "List the cards of a board, or follow their changes."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards/{id}/cards",
                     *           "scope": "write",
                     *           "summary": "Create a card, or up to 1000 at once."
                     *         },
                     *         {
                     *           "method": "PATCH",
                     *           "path": "/boards/{id}/cards",
                     *           "scope": "write",
                     *           "summary": "Change up to 1000 cards."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/boards/{id}/cards",
                     *           "scope": "delete",
                     *           "summary": "Remove up to 1000 cards."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/{id}/cards/{cardId}",
                     *           "scope": "read",
                     *           "summary": "Read a card, with its properties and identifiers."
                     *         },
                     *         {
                     *           "method": "PATCH",
                     *           "path": "/boards/{id}/cards/{cardId}",
                     *           "scope": "write",
                     *           "summary": "Change the fields of a card that are sent."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/boards/{id}/cards/{cardId}",
                     *           "scope": "delete",
                     *           "summary": "Remove a card. Post it back to restore it."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/{id}/cards/{cardId}/history",
                     *           "scope": "read",
                     *           "summary": "List the changes of a card, newest first."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/boards/{id}/cards/{cardId}/history",
                     *           "scope": "delete",
                     *           "summary": "Remove the past of a card for good, such as a secret that was pasted. For the owner of the workspace."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards/{id}/cards/move",
                     *           "scope": "write",
                     *           "summary": "Move up to 1000 cards to another board."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/webhooks",
                     *           "scope": "read",
                     *           "summary": "List the webhooks of a workspace, or of all workspaces that the account may write in."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/webhooks",
                     *           "scope": "write",
                     *           "summary": "Create a webhook. Only this answer contains its secret."
                     *         },
                     *         {
                     *           "method": "PATCH",
                     *           "path": "/webhooks/{id}",
                     *           "scope": "write",
                     *           "summary": "Change a webhook, or switch it on or off."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/webhooks/{id}",
                     *           "scope": "write",
                     *           "summary": "Delete a webhook, its waiting deliveries and its delivery log."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/webhooks/{id}/test",
                     *           "scope": "write",
                     *           "summary": "Send a test delivery with the event `webhook.test`, also to an inactive webhook."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/webhooks/{id}/rotate-secret",
                     *           "scope": "write",
                     *           "summary": "Replace the secret of a webhook. Deliveries are also signed with the previous one for 24 hours."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/webhooks/{id}/deliveries",
                     *           "scope": "read",
                     *           "summary": "List the deliveries of a webhook, newest first. Each attempt and each waiting delivery is an entry."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/webhooks/{id}/deliveries/{deliveryId}/redeliver",
                     *           "scope": "write",
                     *           "summary": "Queue a delivery again, with the same id and 6 new attempts."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/events",
                     *           "scope": "read",
                     *           "summary": "Follow events as they happen, as Server-Sent Events."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/resolve",
                     *           "scope": "read",
                     *           "summary": "Find boards and cards by their identifier in another system. An image card also matches as an image."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards/{id}/arrange",
                     *           "scope": "write",
                     *           "summary": "Arrange the cards of a board."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/{id}/groups",
                     *           "scope": "read",
                     *           "summary": "List the groups of a board, oldest first."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards/{id}/groups",
                     *           "scope": "write",
                     *           "summary": "Create a group. To put cards into it, set their `group_id`."
                     *         },
                     *         {
                     *           "method": "PATCH",
                     *           "path": "/boards/{id}/groups/{groupId}",
                     *           "scope": "write",
                     *           "summary": "Change a group. Only the fields that are sent change."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/boards/{id}/groups/{groupId}",
                     *           "scope": "write",
                     *           "summary": "Ungroup: remove a group, but not its cards."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/service-accounts",
                     *           "scope": "read",
                     *           "summary": "List the service accounts of a workspace, including retired ones."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/service-accounts",
                     *           "scope": "write",
                     *           "summary": "Create a service account and its first token. Only this answer contains the token."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/service-accounts/{id}",
                     *           "scope": "write",
                     *           "summary": "Retire a service account. Its tokens are revoked, and its open editors are disconnected."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/service-accounts/{id}/tokens",
                     *           "scope": "read",
                     *           "summary": "List the tokens of a service account."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/service-accounts/{id}/tokens",
                     *           "scope": "write",
                     *           "summary": "Create another token of a service account. Only this answer contains it. Earlier tokens stay valid."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/service-accounts/{id}/tokens/{tokenId}",
                     *           "scope": "write",
                     *           "summary": "Revoke one token of a service account."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/sessions",
                     *           "scope": "write",
                     *           "summary": "Mint a session for a user of your product."
                     *         },
                     *         {
                     *           "method": "DELETE",
                     *           "path": "/sessions",
                     *           "scope": "write",
                     *           "summary": "End the sessions of a user, or those that open a board."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/audit",
                     *           "scope": "read",
                     *           "summary": "List writes and image reads, newest first. With `since`: a feed of new entries."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/boards/{id}/export",
                     *           "scope": "read",
                     *           "summary": "Export a board as JSON or OMC-JSON 2.8, even from the trash."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/boards/{id}/import",
                     *           "scope": "write",
                     *           "summary": "Import up to 100 remote URLs as cards. Safe to repeat."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/uploads",
                     *           "scope": "write",
                     *           "summary": "Upload an image of up to 25 MB. The body is the bytes of the image."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/uploads/from-url",
                     *           "scope": "write",
                     *           "summary": "Fetch the file at a public https URL and store it: an image of up to 25 MB, another file of up to 100 MB."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/uploads/multipart",
                     *           "scope": "write",
                     *           "summary": "Begin a multipart upload. The board’s owner needs a paid plan."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/uploads/multipart/parts",
                     *           "scope": "write",
                     *           "summary": "Get signed URLs for the parts of a multipart upload."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/uploads/multipart/complete",
                     *           "scope": "write",
                     *           "summary": "Complete a multipart upload: the parts become the file. Safe to repeat."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/uploads/multipart/abort",
                     *           "scope": "write",
                     *           "summary": "Abort a multipart upload and discard its parts."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/images",
                     *           "scope": "read",
                     *           "summary": "List files, newest first. With `since`: a feed of new uploads."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/images/{key}",
                     *           "scope": "read",
                     *           "summary": "Read a file, or a resized image."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/images/urls",
                     *           "scope": "read",
                     *           "summary": "Get URLs of files that need no token, for `<img>` and `srcset`."
                     *         },
                     *         {
                     *           "method": "POST",
                     *           "path": "/mcp",
                     *           "scope": "read",
                     *           "summary": "JSON-RPC endpoint of the Model Context Protocol, for AI agents. Each tool needs the scope of its operation."
                     *         },
                     *         {
                     *           "method": "GET",
                     *           "path": "/openapi.json",
                     *           "scope": null,
                     *           "summary": "Read the API description, OpenAPI 3.1."
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description Name of the service. */
                        name: string;
                        /** @description Version of the API. */
                        version: string;
                        /** @description URL of the documentation. */
                        documentation: string;
                        /** @description URL of the API description. */
                        openapi: string;
                        /** @description What the token may do: `read`, `write`, `delete`. */
                        scopes: string[];
                        /** @description All operations. */
                        endpoints: {
                            /** @description HTTP method. */
                            method: string;
                            /** @description Path below the root of the API. */
                            path: string;
                            /** @description The scope that the operation needs. Null: it needs no token. */
                            scope: string | null;
                            /** @description What the operation does. */
                            summary: string;
                        }[];
                    };
                };
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user_id": "3b87bfbb-7259-44e9-8b01-dc31c7c77937",
                     *       "display_name": "Anna",
                     *       "email": "anna@example.com",
                     *       "tier": "pro",
                     *       "scopes": [
                     *         "read",
                     *         "write",
                     *         "delete"
                     *       ],
                     *       "rate_limit": {
                     *         "limit": 1000,
                     *         "remaining": 998,
                     *         "reset": 1772447400
                     *       },
                     *       "storage": {
                     *         "used": 18204,
                     *         "limit": 107374182400
                     *       },
                     *       "documents": {
                     *         "used": 18204,
                     *         "limit": 107374182400,
                     *         "history": 2310
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the account.
                         */
                        user_id: string;
                        /** @description Name of the account. Null when it has none. */
                        display_name: string | null;
                        /** @description E-mail address of the account. */
                        email: string;
                        /** @description Present and true for a guest who came by a link. */
                        guest?: boolean;
                        /** @description Plan of the account: `free` or `pro`. */
                        tier: string;
                        /** @description What the token may do: `read`, `write`, `delete`. */
                        scopes: string[];
                        /** @description The rate limit of this token. */
                        rate_limit: {
                            /** @description Requests that the token may send in an hour. */
                            limit: number;
                            /** @description Requests that are left in this hour. */
                            remaining: number;
                            /** @description When the oldest counted request no longer counts, in Unix seconds. */
                            reset: number;
                        };
                        /** @description Storage of files in all workspaces that the account owns. Running uploads count. */
                        storage: {
                            /** @description Bytes in use. */
                            used: number;
                            /** @description Bytes that the plan allows. */
                            limit: number;
                        };
                        /** @description Storage of boards in all workspaces that the account owns: snapshots, logs of recent changes, removed cards that can be restored, and history. Boards in the trash count. */
                        documents: {
                            /** @description Bytes in use. */
                            used: number;
                            /** @description Bytes that the plan allows. */
                            limit: number;
                            /** @description Bytes in use by the history of boards, which `used` contains. */
                            history: number;
                        };
                    };
                };
            };
        };
    };
    getWorkspaces: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 500. Default: 100. */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workspaces": [
                     *         {
                     *           "id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *           "name": "Anna",
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "role": "owner"
                     *         }
                     *       ],
                     *       "limit": 100,
                     *       "offset": 0,
                     *       "has_more": false,
                     *       "next_offset": null
                     *     }
                     */
                    "application/json": {
                        /** @description The workspaces of this page. */
                        workspaces: components["schemas"]["Workspace"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    };
                };
            };
        };
    };
    getWorkspacesByIdMembers: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 500. Default: 100. */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the workspace.
                 * @example cd3d4eb4-85fd-495f-87e5-62af6c692c12
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "members": [
                     *         {
                     *           "user_id": "3b87bfbb-7259-44e9-8b01-dc31c7c77937",
                     *           "email": "anna@example.com",
                     *           "display_name": "Anna",
                     *           "role": "owner"
                     *         },
                     *         {
                     *           "user_id": "19c79ca7-b1d4-4237-862b-300cbadd7b43",
                     *           "email": "anna@example.com",
                     *           "display_name": "Ben",
                     *           "role": "editor"
                     *         }
                     *       ],
                     *       "limit": 100,
                     *       "offset": 0,
                     *       "has_more": false,
                     *       "next_offset": null
                     *     }
                     */
                    "application/json": {
                        /** @description The members of this page. */
                        members: components["schemas"]["Member"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    };
                };
            };
        };
    };
    deleteWorkspacesByIdMembersByUserId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the workspace.
                 * @example cd3d4eb4-85fd-495f-87e5-62af6c692c12
                 */
                id: string;
                /**
                 * @description Id of the account.
                 * @example 19c79ca7-b1d4-4237-862b-300cbadd7b43
                 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "user_id": "19c79ca7-b1d4-4237-862b-300cbadd7b43"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        /**
                         * Format: uuid
                         * @description Id of the account.
                         */
                        user_id: string;
                    };
                };
            };
        };
    };
    patchWorkspacesByIdMembersByUserId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the workspace.
                 * @example cd3d4eb4-85fd-495f-87e5-62af6c692c12
                 */
                id: string;
                /**
                 * @description Id of the account.
                 * @example 19c79ca7-b1d4-4237-862b-300cbadd7b43
                 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "role": "viewer"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description `editor` or `viewer`.
                     * @enum {string}
                     */
                    role: "editor" | "viewer";
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "member": {
                     *         "user_id": "19c79ca7-b1d4-4237-862b-300cbadd7b43",
                     *         "email": "anna@example.com",
                     *         "display_name": "Ben",
                     *         "role": "viewer"
                     *       }
                     *     }
                     */
                    "application/json": {
                        member: components["schemas"]["Member"];
                    };
                };
            };
        };
    };
    getWorkspacesByIdInvitations: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 500. Default: 100. */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the workspace.
                 * @example cd3d4eb4-85fd-495f-87e5-62af6c692c12
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "invitations": [
                     *         {
                     *           "id": "e3b551e2-8b2e-42eb-8045-ae1ac713517a",
                     *           "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *           "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *           "email": "anna@example.com",
                     *           "role": "viewer",
                     *           "history": false,
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "expires_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "limit": 100,
                     *       "offset": 0,
                     *       "has_more": false,
                     *       "next_offset": null
                     *     }
                     */
                    "application/json": {
                        /** @description The invitations of this page. */
                        invitations: components["schemas"]["Invitation"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    };
                };
            };
        };
    };
    postWorkspacesByIdInvitations: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the workspace.
                 * @example cd3d4eb4-85fd-495f-87e5-62af6c692c12
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "anna@example.com",
                 *       "role": "viewer",
                 *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *     }
                 */
                "application/json": {
                    /** @description E-mail address. Only the account with this address can accept; a person without an account makes one by accepting. Without it, the answer has a link for one person who has an account. */
                    email?: string;
                    /**
                     * @description `editor` or `viewer`. `owner` transfers the workspace when the person accepts: you become an editor. It needs `email`.
                     * @enum {string}
                     */
                    role: "owner" | "editor" | "viewer";
                    /**
                     * Format: uuid
                     * @description Id of the board. The person gets this board only, without its child boards.
                     */
                    board_id?: string;
                    /** @description With `board_id`: also show the history of the board, from the acceptance on. */
                    history?: boolean;
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "invitation": {
                     *         "id": "e3b551e2-8b2e-42eb-8045-ae1ac713517a",
                     *         "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *         "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *         "email": "anna@example.com",
                     *         "role": "viewer",
                     *         "history": false,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "expires_at": "2026-03-02T09:30:00.000Z"
                     *       },
                     *       "sent": false,
                     *       "url": "https://corkboard.example/login/invitation?code=J9xW2m4YbQpTz7Kc0vLs5RfHd8NgAe1UiOoEt3Xy6Bw"
                     *     }
                     */
                    "application/json": {
                        invitation: components["schemas"]["Invitation"];
                        /** @description Whether the service has sent the link by e-mail. */
                        sent: boolean;
                        /** @description The link, for you to pass on. It is not shown again. Null when the service has sent it. */
                        url: string | null;
                    };
                };
            };
        };
    };
    deleteWorkspacesByIdInvitationsByInvitationId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the workspace.
                 * @example cd3d4eb4-85fd-495f-87e5-62af6c692c12
                 */
                id: string;
                /**
                 * @description Id of the invitation.
                 * @example e3b551e2-8b2e-42eb-8045-ae1ac713517a
                 */
                invitationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "e3b551e2-8b2e-42eb-8045-ae1ac713517a"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        /**
                         * Format: uuid
                         * @description Id of the invitation.
                         */
                        id: string;
                    };
                };
            };
        };
    };
    postInvitationsAccept: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "J9xW2m4YbQpTz7Kc0vLs5RfHd8NgAe1UiOoEt3Xy6Bw"
                 *     }
                 */
                "application/json": {
                    /** @description The code in the link of the invitation. */
                    code: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workspace_id": "97be1595-4ec5-4929-8c36-714a422aa0bb",
                     *       "board_id": null,
                     *       "role": "viewer"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the workspace.
                         */
                        workspace_id: string;
                        /**
                         * Format: uuid
                         * @description The board that you can open now. Null: the whole workspace.
                         */
                        board_id: string | null;
                        /**
                         * @description Your role. `owner`: the workspace is yours now.
                         * @enum {string}
                         */
                        role: "owner" | "editor" | "viewer";
                    };
                };
            };
        };
    };
    getNotifications: {
        parameters: {
            query?: {
                /** @description Starts a change feed: lists changes at or after this time, oldest first. RFC 3339, such as `2026-01-31T09:00:00Z`. */
                since?: string;
                /** @description The `next_cursor` of the previous page. Send it with the same filters. */
                cursor?: string;
                /**
                 * @description Most entries of a page, 1 to 500. Default: 100.
                 * @example 1
                 */
                limit?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "notifications": [
                     *         {
                     *           "id": "5845b027-518e-420e-88a6-30145f190bf7",
                     *           "type": "schedule.changed",
                     *           "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *           "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *           "data": {
                     *             "name": "Lighthouse",
                     *             "actor": {
                     *               "user_id": "19c79ca7-b1d4-4237-862b-300cbadd7b43",
                     *               "display_name": "Ben"
                     *             },
                     *             "before": {
                     *               "day_label": "Day 1",
                     *               "scheduled_end": null,
                     *               "scheduled_date": "2026-05-01"
                     *             },
                     *             "day_label": "Day 1",
                     *             "sched_status": "published",
                     *             "sched_version": 1,
                     *             "scheduled_end": null,
                     *             "scheduled_date": "2026-05-02"
                     *           },
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "read_at": null
                     *         }
                     *       ],
                     *       "limit": 1,
                     *       "has_more": false,
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The notifications of this page. */
                        notifications: components["schemas"]["Notification"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `cursor` of the next page. Null when there is no next page. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postNotificationsRead: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ids": [
                 *         "5845b027-518e-420e-88a6-30145f190bf7"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Ids of the notifications. */
                    ids?: string[];
                    /**
                     * Format: date-time
                     * @description Marks all up to this time, those of this very time included: the `created_at` of the newest one that was shown.
                     */
                    before?: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "read": 1,
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @description How many notifications were unread, and are read now. */
                        read: number;
                        /** @description True when `before` covers more than 10000 unread notifications. The oldest ones are marked: send the request again for the others. */
                        has_more: boolean;
                    };
                };
            };
        };
    };
    getSearch: {
        parameters: {
            query: {
                /**
                 * @description The words to search for, 2 to 200 characters. Results contain all of them. Case and accents are ignored.
                 * @example scout tower
                 */
                q: string;
                /** @description Search only boards, or only cards. The list of the other kind is empty. */
                kind?: "board" | "card";
                /** @description Search only this workspace. */
                workspace?: string;
                /** @description Most entries of a page, 1 to 500. Default: 100. */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "query": "scout tower",
                     *       "boards": {
                     *         "items": [],
                     *         "limit": 100,
                     *         "offset": 0,
                     *         "has_more": false,
                     *         "next_offset": null
                     *       },
                     *       "cards": {
                     *         "items": [
                     *           {
                     *             "id": "tllbZBuQ2PDVzQCr",
                     *             "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *             "kind": "note",
                     *             "title": "Scout the tower at dawn",
                     *             "excerpt": "Morning light, before the ferry comes.",
                     *             "updated_at": "2026-03-02T09:30:00.000Z"
                     *           }
                     *         ],
                     *         "limit": 100,
                     *         "offset": 0,
                     *         "has_more": false,
                     *         "next_offset": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description The query, without spaces at both ends. */
                        query: string;
                        /** @description Boards that match. */
                        boards: {
                            /** @description The boards of this page. */
                            items: components["schemas"]["Board"][];
                            /** @description The `limit` of this page. */
                            limit: number;
                            /** @description Entries that were skipped. */
                            offset: number;
                            /** @description Whether there is another page now. */
                            has_more: boolean;
                            /** @description The `offset` of the next page. Null on the last page. */
                            next_offset: number | null;
                        };
                        /** @description Cards that match. */
                        cards: {
                            /** @description The cards of this page. */
                            items: components["schemas"]["CardHit"][];
                            /** @description The `limit` of this page. */
                            limit: number;
                            /** @description Entries that were skipped. */
                            offset: number;
                            /** @description Whether there is another page now. */
                            has_more: boolean;
                            /** @description The `offset` of the next page. Null on the last page. */
                            next_offset: number | null;
                        };
                    };
                };
            };
        };
    };
    getBoards: {
        parameters: {
            query?: {
                /**
                 * @description Only boards of this workspace.
                 * @example cd3d4eb4-85fd-495f-87e5-62af6c692c12
                 */
                workspace?: string;
                /** @description Only boards directly below this one, by its id; or `root`: only top-level boards. */
                parent?: string;
                /** @description `1`: list the trash instead of live boards. With `since`: list both, and show each board’s parent even when that is in the trash. */
                deleted?: "1" | "0";
                /** @description Starts a change feed: lists changes at or after this time, oldest first. RFC 3339, such as `2026-01-31T09:00:00Z`. */
                since?: string;
                /** @description The `next_cursor` of the previous page. Send it with the same filters. */
                cursor?: string;
                /** @description Which fields to add to each board: a comma list of `props`, `identifiers`. */
                include?: string;
                /**
                 * @description Most entries of a page, 1 to 500. Default: 100.
                 * @example 10
                 */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "boards": [
                     *         {
                     *           "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *           "name": "Lighthouse",
                     *           "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *           "parent_board_id": null,
                     *           "view": "canvas",
                     *           "deleted": false,
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "updated_at": "2026-03-02T09:30:00.000Z",
                     *           "scheduled_date": "2026-05-01",
                     *           "scheduled_end": null,
                     *           "day_label": "Day 1",
                     *           "sched_status": "draft",
                     *           "sched_version": 0,
                     *           "sched_published_at": null,
                     *           "version": "eRytjDqO4vCGnFdeJ17uNH"
                     *         },
                     *         {
                     *           "id": "327fbcaf-c916-4187-81dd-45414a6137ea",
                     *           "name": "Harbour",
                     *           "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *           "parent_board_id": null,
                     *           "view": "canvas",
                     *           "deleted": false,
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "updated_at": "2026-03-02T09:30:00.000Z",
                     *           "scheduled_date": null,
                     *           "scheduled_end": null,
                     *           "day_label": null,
                     *           "sched_status": "draft",
                     *           "sched_version": 0,
                     *           "sched_published_at": null,
                     *           "version": "Ri4rQtYBCQ4Bf-iz_e1tZy"
                     *         }
                     *       ],
                     *       "limit": 10,
                     *       "offset": 0,
                     *       "has_more": false,
                     *       "next_offset": null
                     *     }
                     */
                    "application/json": {
                        /** @description The boards of this page. */
                        boards: components["schemas"]["Board"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    } | {
                        /** @description The boards of this page. */
                        boards: components["schemas"]["Board"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `cursor` of the next page. It is also set on the last page: send it later to get newer changes. */
                        next_cursor: string;
                    };
                };
            };
        };
    };
    postBoards: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Lighthouse",
                 *       "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                 *       "scheduled_date": "2026-05-01",
                 *       "day_label": "Day 1"
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 200 characters, after spaces at both ends are removed. */
                    name?: string;
                    /**
                     * Format: uuid
                     * @description Id of the workspace to create the board in. Without it: the workspace of the parent, else your own. In the batch form: the default for entries without `workspace_id`.
                     */
                    workspace_id?: string;
                    /**
                     * Format: uuid
                     * @description Id of the board above it. Null for a top-level board.
                     */
                    parent_board_id?: string | null;
                    /** @description How clients show the board: `list`, or `canvas`, which any other value stands for. */
                    view?: unknown;
                    /**
                     * Format: date
                     * @description The day that the board is scheduled for. `YYYY-MM-DD`. Null clears it.
                     */
                    scheduled_date?: string | null;
                    /**
                     * Format: date
                     * @description The last day, if there are several. Needs a `scheduled_date`. `YYYY-MM-DD`. Null clears it.
                     */
                    scheduled_end?: string | null;
                    /** @description The name of the scheduled day, such as `Day 3`. Null clears it. */
                    day_label?: string | null;
                    /** @description `false`: nobody is notified of the change of schedule. */
                    notify?: boolean;
                    /** @description Free properties: any JSON object of at most 16 KB and 5 levels. A write replaces the whole object. */
                    props?: {
                        [key: string]: unknown;
                    } | null;
                    /** @description Ids in other systems, at most 20. A write replaces the whole list. */
                    identifiers?: components["schemas"]["Identifier"][] | null;
                    /**
                     * @description Batch form only. An entry updates the board of the workspace that has one of its identifiers, if there is one.
                     * @constant
                     */
                    on_conflict?: "identifier";
                    /** @description The batch form: all of these boards are written, or none. */
                    boards?: components["schemas"]["BoardInput"][];
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": {
                     *         "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *         "name": "Lighthouse",
                     *         "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *         "parent_board_id": null,
                     *         "view": "canvas",
                     *         "deleted": false,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "updated_at": "2026-03-02T09:30:00.000Z",
                     *         "scheduled_date": "2026-05-01",
                     *         "scheduled_end": null,
                     *         "day_label": "Day 1",
                     *         "sched_status": "draft",
                     *         "sched_version": 0,
                     *         "sched_published_at": null,
                     *         "version": "eRytjDqO4vCGnFdeJ17uNH",
                     *         "props": null,
                     *         "identifiers": []
                     *       }
                     *     }
                     */
                    "application/json": {
                        board: components["schemas"]["Board"];
                    } | {
                        /** @description The boards, in the order of the entries. */
                        boards: components["schemas"]["Board"][];
                        /** @description How many boards are new. */
                        created: number;
                        /** @description With `on_conflict`: how many boards were updated. */
                        updated?: number;
                    };
                };
            };
        };
    };
    deleteBoards: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "board_ids": [
                 *         "327fbcaf-c916-4187-81dd-45414a6137ea"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Ids of the boards to delete. */
                    board_ids: string[];
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": [
                     *         "327fbcaf-c916-4187-81dd-45414a6137ea"
                     *       ],
                     *       "skipped": []
                     *     }
                     */
                    "application/json": {
                        /** @description Ids of the boards that are in the trash now. */
                        deleted: string[];
                        /** @description The boards that were not deleted. */
                        skipped: {
                            /**
                             * Format: uuid
                             * @description Id of the board.
                             */
                            board_id: string;
                            /**
                             * @description Why it was not deleted.
                             * @enum {string}
                             */
                            reason: "no-write" | "missing";
                        }[];
                    };
                };
            };
        };
    };
    postBoardsMove: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "board_ids": [
                 *         "327fbcaf-c916-4187-81dd-45414a6137ea"
                 *       ],
                 *       "parent_board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *     }
                 */
                "application/json": {
                    /** @description Ids of the boards to move. */
                    board_ids: string[];
                    /**
                     * Format: uuid
                     * @description Id of the board to move them below. Null or absent: the top level.
                     */
                    parent_board_id?: string | null;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "moved": [
                     *         "327fbcaf-c916-4187-81dd-45414a6137ea"
                     *       ],
                     *       "boards": [
                     *         {
                     *           "id": "327fbcaf-c916-4187-81dd-45414a6137ea",
                     *           "name": "Harbour at dusk",
                     *           "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *           "parent_board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *           "view": "canvas",
                     *           "deleted": false,
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "updated_at": "2026-03-02T09:30:00.000Z",
                     *           "scheduled_date": null,
                     *           "scheduled_end": null,
                     *           "day_label": null,
                     *           "sched_status": "draft",
                     *           "sched_version": 0,
                     *           "sched_published_at": null,
                     *           "version": "OAcER1_Re5TuIkLKJ2LjXc",
                     *           "props": null,
                     *           "identifiers": []
                     *         }
                     *       ],
                     *       "skipped": []
                     *     }
                     */
                    "application/json": {
                        /** @description Ids of the boards that were moved. */
                        moved: string[];
                        /** @description The boards that were moved, as they are now. */
                        boards: components["schemas"]["Board"][];
                        /** @description The boards that were not moved. */
                        skipped: {
                            /**
                             * Format: uuid
                             * @description Id of the board.
                             */
                            board_id: string;
                            /**
                             * @description Why it was not moved.
                             * @enum {string}
                             */
                            reason: "cycle" | "cross-workspace" | "no-write" | "same-parent" | "missing" | "self";
                        }[];
                    };
                };
            };
        };
    };
    getBoardsTree: {
        parameters: {
            query?: {
                /**
                 * @description Id of the board to start from. Send this or `workspace`.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                root?: string;
                /** @description Id of the workspace to read. Send this or `root`. */
                workspace?: string;
                /**
                 * @description How many levels to read below the root, or below the top-level boards of the workspace. 1 to 20; 10 when absent.
                 * @example 2
                 */
                depth?: number;
                /** @description `1`: include boards in the trash. */
                deleted?: "1" | "0";
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "root": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "count": 2,
                     *       "boards": [
                     *         {
                     *           "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *           "parent_board_id": null,
                     *           "name": "Lighthouse",
                     *           "depth": 0,
                     *           "card_count": 0,
                     *           "updated_at": "2026-03-02T09:30:00.000Z",
                     *           "deleted": false
                     *         },
                     *         {
                     *           "id": "327fbcaf-c916-4187-81dd-45414a6137ea",
                     *           "parent_board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *           "name": "Harbour at dusk",
                     *           "depth": 1,
                     *           "card_count": 0,
                     *           "updated_at": "2026-03-02T09:30:00.000Z",
                     *           "deleted": false
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description The `root` of the request. Null when a workspace was read.
                         */
                        root: string | null;
                        /** @description How many boards the answer has. */
                        count: number;
                        /** @description Parents before their children, siblings in the order of their creation. */
                        boards: components["schemas"]["TreeEntry"][];
                    };
                };
            };
        };
    };
    getBoardsById: {
        parameters: {
            query?: {
                /** @description A comma list of `props`, `identifiers`. A single board has both in any case. */
                include?: string;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": {
                     *         "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *         "name": "Lighthouse",
                     *         "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *         "parent_board_id": null,
                     *         "view": "canvas",
                     *         "deleted": false,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "updated_at": "2026-03-02T09:30:00.000Z",
                     *         "scheduled_date": "2026-05-01",
                     *         "scheduled_end": null,
                     *         "day_label": "Day 1",
                     *         "sched_status": "draft",
                     *         "sched_version": 0,
                     *         "sched_published_at": null,
                     *         "version": "eRytjDqO4vCGnFdeJ17uNH",
                     *         "props": null,
                     *         "identifiers": []
                     *       },
                     *       "capacity": null
                     *     }
                     */
                    "application/json": {
                        board: components["schemas"]["Board"];
                        /** @description Null when the plan of the board’s owner has no limit on cards. */
                        capacity: components["schemas"]["Capacity"] | null;
                    };
                };
            };
        };
    };
    deleteBoardsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description The `etag` that you read: the `version` in quotes. If the object has another version, the answer is 412, and nothing is changed. Accepts several tags, separated by commas. `*` accepts every version. */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example 327fbcaf-c916-4187-81dd-45414a6137ea
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "board": {
                     *         "id": "327fbcaf-c916-4187-81dd-45414a6137ea",
                     *         "name": "Harbour at dusk",
                     *         "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *         "parent_board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *         "view": "canvas",
                     *         "deleted": true,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "updated_at": "2026-03-02T09:30:00.000Z",
                     *         "scheduled_date": null,
                     *         "scheduled_end": null,
                     *         "day_label": null,
                     *         "sched_status": "draft",
                     *         "sched_version": 0,
                     *         "sched_published_at": null,
                     *         "version": "STgSJ487CnqvQkMz5cCB-2",
                     *         "props": null,
                     *         "identifiers": []
                     *       },
                     *       "restorable": true
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        board: components["schemas"]["Board"];
                        /** @description Whether the board can be restored. */
                        restorable: boolean;
                    };
                };
            };
        };
    };
    patchBoardsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description The `etag` that you read: the `version` in quotes. If the object has another version, the answer is 412, and nothing is changed. Accepts several tags, separated by commas. `*` accepts every version. */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example 327fbcaf-c916-4187-81dd-45414a6137ea
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Harbour at dusk"
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 200 characters, after spaces at both ends are removed. */
                    name?: string;
                    /**
                     * @description How clients show the board.
                     * @enum {string}
                     */
                    view?: "canvas" | "list";
                    /**
                     * Format: uuid
                     * @description Id of the board to move it below. Null: the top level.
                     */
                    parent_board_id?: string | null;
                    /**
                     * Format: date
                     * @description The day that the board is scheduled for. `YYYY-MM-DD`. Null clears it.
                     */
                    scheduled_date?: string | null;
                    /**
                     * Format: date
                     * @description The last day, if there are several. Needs a `scheduled_date`. `YYYY-MM-DD`. Null clears it.
                     */
                    scheduled_end?: string | null;
                    /** @description The name of the scheduled day, such as `Day 3`. Null clears it. */
                    day_label?: string | null;
                    /** @description `false`: nobody is notified of the change of schedule. */
                    notify?: boolean;
                    /** @description Free properties: any JSON object of at most 16 KB and 5 levels. A write replaces the whole object. */
                    props?: {
                        [key: string]: unknown;
                    } | null;
                    /** @description Ids in other systems, at most 20. A write replaces the whole list. */
                    identifiers?: components["schemas"]["Identifier"][] | null;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": {
                     *         "id": "327fbcaf-c916-4187-81dd-45414a6137ea",
                     *         "name": "Harbour at dusk",
                     *         "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *         "parent_board_id": null,
                     *         "view": "canvas",
                     *         "deleted": false,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "updated_at": "2026-03-02T09:30:00.000Z",
                     *         "scheduled_date": null,
                     *         "scheduled_end": null,
                     *         "day_label": null,
                     *         "sched_status": "draft",
                     *         "sched_version": 0,
                     *         "sched_published_at": null,
                     *         "version": "OOyxJNk-Rei8xcCVmXLBDv",
                     *         "props": null,
                     *         "identifiers": []
                     *       }
                     *     }
                     */
                    "application/json": {
                        board: components["schemas"]["Board"];
                    };
                };
            };
        };
    };
    postBoardsByIdRestore: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example 327fbcaf-c916-4187-81dd-45414a6137ea
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": {
                     *         "id": "327fbcaf-c916-4187-81dd-45414a6137ea",
                     *         "name": "Harbour at dusk",
                     *         "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *         "parent_board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *         "view": "canvas",
                     *         "deleted": false,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "updated_at": "2026-03-02T09:30:00.000Z",
                     *         "scheduled_date": null,
                     *         "scheduled_end": null,
                     *         "day_label": null,
                     *         "sched_status": "draft",
                     *         "sched_version": 0,
                     *         "sched_published_at": null,
                     *         "version": "HQTY3FzbhiT8VdcWl5Ajut",
                     *         "props": null,
                     *         "identifiers": []
                     *       },
                     *       "restored": true,
                     *       "dropped_identifiers": []
                     *     }
                     */
                    "application/json": {
                        board: components["schemas"]["Board"];
                        /** @description False when the board was not in the trash. */
                        restored: boolean;
                        /** @description Identifiers that another board has by now. This board came back without them. */
                        dropped_identifiers: components["schemas"]["Identifier"][];
                    };
                };
            };
        };
    };
    getBoardsByIdHistory: {
        parameters: {
            query?: {
                /** @description Changes at or after this time only. RFC 3339. */
                since?: string;
                /** @description Changes at or before this time only. RFC 3339. */
                until?: string;
                /** @description Changes by this account only. */
                actor?: string;
                /** @description The `next_cursor` of the previous page. Send it with the same filters. */
                cursor?: string;
                /**
                 * @description Most entries of a page, 1 to 500. Default: 100.
                 * @example 1
                 */
                limit?: number;
                /** @description Changes of this card only. */
                card_id?: string;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "entries": [
                     *         {
                     *           "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *           "position": 4,
                     *           "before": 3,
                     *           "at": "2026-03-02T09:30:00.000Z",
                     *           "began_at": "2026-03-02T09:30:00.000Z",
                     *           "by": "api",
                     *           "actors": [
                     *             {
                     *               "user_id": "3b87bfbb-7259-44e9-8b01-dc31c7c77937",
                     *               "display_name": "Anna"
                     *             }
                     *           ],
                     *           "action": "card.update",
                     *           "request_id": "req-3f",
                     *           "operation_id": "ab6302f6-9f41-449f-8fdc-78bd48974566",
                     *           "token_ids": [
                     *             "a22a5fa6-4882-4a44-88ac-638a5e8472b9"
                     *           ],
                     *           "other_board_id": null,
                     *           "counts": {
                     *             "added": 0,
                     *             "removed": 0,
                     *             "changed": 1,
                     *             "groups": 0
                     *           },
                     *           "card_ids": [
                     *             "JDhco9_CBmORzbxF"
                     *           ],
                     *           "fields": [
                     *             "color"
                     *           ],
                     *           "summary": "Anna changed 1 card (color) through the API."
                     *         }
                     *       ],
                     *       "kept_since": "2026-03-02T09:30:00.000Z",
                     *       "limit": 1,
                     *       "has_more": true,
                     *       "next_cursor": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10|4.0"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /** @description The entries of this page. A page may have fewer entries than `limit`. */
                        entries: components["schemas"]["HistoryEntry"][];
                        /**
                         * Format: date-time
                         * @description The first moment of the board that is kept and that you may see.
                         */
                        kept_since: string;
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `cursor` of the next page. Null when there is no next page. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getBoardsByIdDiff: {
        parameters: {
            query: {
                /**
                 * @description A moment of the board: a time (RFC 3339, such as `2026-01-31T09:00:00Z`), a `position` of its history, or the id of a named version.
                 * @example 2
                 */
                from: string;
                /**
                 * @description A moment of the board: a time (RFC 3339, such as `2026-01-31T09:00:00Z`), a `position` of its history, or the id of a named version.
                 * @example 3
                 */
                to?: string;
                /** @description Most entries of a page, 1 to 500. Default: 100. */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "from": {
                     *         "position": 2,
                     *         "at": "2026-03-02T09:30:00.000Z"
                     *       },
                     *       "to": {
                     *         "position": 3,
                     *         "at": "2026-03-02T09:30:00.000Z"
                     *       },
                     *       "cards": [
                     *         {
                     *           "id": "tllbZBuQ2PDVzQCr",
                     *           "change": "changed",
                     *           "fields": [
                     *             {
                     *               "field": "title",
                     *               "before": "Scout the tower",
                     *               "after": "Scout the tower at dawn",
                     *               "diff": [
                     *                 {
                     *                   "op": "kept",
                     *                   "text": "Scout the tower"
                     *                 },
                     *                 {
                     *                   "op": "added",
                     *                   "text": " at dawn"
                     *                 }
                     *               ]
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "groups": [],
                     *       "total": 1,
                     *       "limit": 100,
                     *       "offset": 0,
                     *       "has_more": false,
                     *       "next_offset": null
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /** @description The moment that the answer shows. */
                        from: {
                            /** @description Position in the history of the board. It grows with each change. */
                            position: number;
                            /**
                             * Format: date-time
                             * @description When the board became like this. Null when that is no longer known.
                             */
                            at: string | null;
                        };
                        /** @description The moment that the answer shows. */
                        to: {
                            /** @description Position in the history of the board. It grows with each change. */
                            position: number;
                            /**
                             * Format: date-time
                             * @description When the board became like this. Null when that is no longer known.
                             */
                            at: string | null;
                        };
                        /** @description Cards that differ. */
                        cards: {
                            /** @description Id of the card. */
                            id: string;
                            /**
                             * @description What became of it between the two moments.
                             * @enum {string}
                             */
                            change: "added" | "removed" | "changed";
                            /** @description Fields that differ; for what was added or removed, all of them. */
                            fields: {
                                /** @description Its name, as the canvas stores it. */
                                field: string;
                                /** @description Its value at `from`. Null when it had none. */
                                before: unknown;
                                /** @description Its value at `to`. Null when it has none. */
                                after: unknown;
                                /** @description For two texts: their pieces, in order. Very long texts are shown as replaced. */
                                diff?: {
                                    /**
                                     * @description What became of it.
                                     * @enum {string}
                                     */
                                    op: "kept" | "removed" | "added";
                                    /** @description The piece. */
                                    text: string;
                                }[];
                                /**
                                 * @description The values are too large to be shown: both are null.
                                 * @constant
                                 */
                                too_large?: true;
                            }[];
                        }[];
                        /** @description Groups that differ. On the first page only. */
                        groups: {
                            /** @description Id of the group. */
                            id: string;
                            /**
                             * @description What became of it between the two moments.
                             * @enum {string}
                             */
                            change: "added" | "removed" | "changed";
                            /** @description Fields that differ; for what was added or removed, all of them. */
                            fields: {
                                /** @description Its name, as the canvas stores it. */
                                field: string;
                                /** @description Its value at `from`. Null when it had none. */
                                before: unknown;
                                /** @description Its value at `to`. Null when it has none. */
                                after: unknown;
                                /** @description For two texts: their pieces, in order. Very long texts are shown as replaced. */
                                diff?: {
                                    /**
                                     * @description What became of it.
                                     * @enum {string}
                                     */
                                    op: "kept" | "removed" | "added";
                                    /** @description The piece. */
                                    text: string;
                                }[];
                                /**
                                 * @description The values are too large to be shown: both are null.
                                 * @constant
                                 */
                                too_large?: true;
                            }[];
                        }[];
                        /** @description How many cards differ. */
                        total: number;
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    };
                };
            };
        };
    };
    postBoardsByIdRestoreTo: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "as_of": "4",
                 *       "card_ids": [
                 *         "JDhco9_CBmORzbxF"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description A moment of the board: a time (RFC 3339, such as `2026-01-31T09:00:00Z`), a `position` of its history, or the id of a named version. */
                    as_of: string;
                    /** @description Ids of the cards to bring back. Without it the whole board is. */
                    card_ids?: string[];
                    /** @description `true`: answer what would be done, and write nothing. */
                    dry_run?: boolean;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "as_of": {
                     *         "position": 4,
                     *         "at": "2026-03-02T09:30:00.000Z"
                     *       },
                     *       "changes": [],
                     *       "skipped": [],
                     *       "not_found": [],
                     *       "dry_run": false,
                     *       "live": true
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /** @description The moment that the answer shows. */
                        as_of: {
                            /** @description Position in the history of the board. It grows with each change. */
                            position: number;
                            /**
                             * Format: date-time
                             * @description When the board became like this. Null when that is no longer known.
                             */
                            at: string | null;
                        };
                        /** @description What was brought back. */
                        changes: {
                            /**
                             * @description What it is.
                             * @enum {string}
                             */
                            type: "card" | "group";
                            /** @description Id of the card or group. */
                            id: string;
                            /**
                             * @description What was done to it.
                             * @enum {string}
                             */
                            change: "created" | "changed" | "removed";
                            /** @description For `changed`: the fields, as the canvas stores them. */
                            fields: string[];
                            /**
                             * Format: uuid
                             * @description For a removed card: the token that restores it.
                             */
                            restore_token?: string;
                        }[];
                        /** @description Cards that were left as they are, and why. */
                        skipped: {
                            /**
                             * @description What it is.
                             * @enum {string}
                             */
                            type: "card" | "group";
                            /** @description Id of the card or group. */
                            id: string;
                            /** @description The fields that were left. Empty: the whole object. */
                            fields: string[];
                            /**
                             * @description `changed_since`: somebody else changed it since. `gone`: it is not on the board any more. `exists`: an object with its id is on the board again. `in_use`: cards of others are in the group. `identifier_taken`: another card has its identifier by now. `moved`: it was moved between boards. `together`: edits of several accounts came at the same moment, and can’t be told apart. `needs_delete`: removing it needs the scope `delete`. `expunged`: its past was expunged, so it is not known whether it was there.
                             * @enum {string}
                             */
                            reason: "changed_since" | "gone" | "exists" | "in_use" | "identifier_taken" | "moved" | "together" | "needs_delete" | "expunged";
                        }[];
                        /** @description Ids from the request that are on the board neither now nor at `as_of`. */
                        not_found: string[];
                        /** @description True when nothing was written. */
                        dry_run: boolean;
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    postBoardsByIdUndo: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "request_id": "req-3f"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description Changes of this operation: `operation_id` of the history.
                     */
                    operation_id?: string;
                    /** @description Changes of this request: its header `x-request-id`, or `request_id` of the history. */
                    request_id?: string;
                    /** @description Changes by this account, token, session, service account or connected application: its id, or `me` for the caller’s own token. Without an operation or a request, `since` is required. */
                    actor?: string;
                    /**
                     * Format: date-time
                     * @description Changes at or after this time only. RFC 3339.
                     */
                    since?: string;
                    /**
                     * Format: date-time
                     * @description Changes at or before this time only. RFC 3339.
                     */
                    until?: string;
                    /** @description `true`: answer what would be done, and write nothing. */
                    dry_run?: boolean;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "undone": [
                     *         {
                     *           "type": "card",
                     *           "id": "JDhco9_CBmORzbxF",
                     *           "change": "changed",
                     *           "fields": [
                     *             "title"
                     *           ]
                     *         }
                     *       ],
                     *       "not_undone": [],
                     *       "dry_run": false,
                     *       "live": true
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /** @description What was undone. */
                        undone: {
                            /**
                             * @description What it is.
                             * @enum {string}
                             */
                            type: "card" | "group";
                            /** @description Id of the card or group. */
                            id: string;
                            /**
                             * @description What was done to it.
                             * @enum {string}
                             */
                            change: "created" | "changed" | "removed";
                            /** @description For `changed`: the fields, as the canvas stores them. */
                            fields: string[];
                            /**
                             * Format: uuid
                             * @description For a removed card: the token that restores it.
                             */
                            restore_token?: string;
                        }[];
                        /** @description What was not undone, and why. */
                        not_undone: {
                            /**
                             * @description What it is.
                             * @enum {string}
                             */
                            type: "card" | "group";
                            /** @description Id of the card or group. */
                            id: string;
                            /** @description The fields that were left. Empty: the whole object. */
                            fields: string[];
                            /**
                             * @description `changed_since`: somebody else changed it since. `gone`: it is not on the board any more. `exists`: an object with its id is on the board again. `in_use`: cards of others are in the group. `identifier_taken`: another card has its identifier by now. `moved`: it was moved between boards. `together`: edits of several accounts came at the same moment, and can’t be told apart. `needs_delete`: removing it needs the scope `delete`. `expunged`: its past was expunged, so it is not known whether it was there.
                             * @enum {string}
                             */
                            reason: "changed_since" | "gone" | "exists" | "in_use" | "identifier_taken" | "moved" | "together" | "needs_delete" | "expunged";
                        }[];
                        /** @description True when nothing was written. */
                        dry_run: boolean;
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    getBoardsByIdPresence: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "presence": [
                     *         {
                     *           "client_id": 2913640571,
                     *           "account": {
                     *             "id": "3b87bfbb-7259-44e9-8b01-dc31c7c77937",
                     *             "name": "Anna"
                     *           },
                     *           "agent": true,
                     *           "state": {
                     *             "cursor": {
                     *               "x": 120,
                     *               "y": 80
                     *             }
                     *           },
                     *           "read_only": false
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /** @description Everybody, in no order. */
                        presence: components["schemas"]["Present"][];
                    };
                };
            };
        };
    };
    putBoardsByIdPresence: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "state": {
                 *         "cursor": {
                 *           "x": 120,
                 *           "y": 80
                 *         }
                 *       },
                 *       "ttl_seconds": 60
                 *     }
                 */
                "application/json": {
                    /** @description What is shown, such as `{"cursor": {"x": 0, "y": 0}}`: an object of at most 4 KB. */
                    state?: {
                        [key: string]: unknown;
                    };
                    /** @description How long it is shown. Default: 60. */
                    ttl_seconds?: number;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "client_id": 2913640571,
                     *       "expires_at": "2026-03-02T09:30:00.000Z"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /** @description Number of the client, as in awareness. */
                        client_id: number;
                        /**
                         * Format: date-time
                         * @description Until when it is shown.
                         */
                        expires_at: string;
                    };
                };
            };
        };
    };
    deleteBoardsByIdPresence: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                    };
                };
            };
        };
    };
    getBoardsByIdVersions: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the previous page. Send it with the same filters. */
                cursor?: string;
                /**
                 * @description Most entries of a page, 1 to 500. Default: 100.
                 * @example 1
                 */
                limit?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "versions": [
                     *         {
                     *           "id": "444ea325-5198-4dfe-8989-7e93324925e0",
                     *           "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *           "name": "Before the scout",
                     *           "position": 6,
                     *           "at": "2026-03-02T09:30:00.000Z",
                     *           "changed_at": "2026-03-02T09:30:00.000Z",
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "created_by": {
                     *             "user_id": "3b87bfbb-7259-44e9-8b01-dc31c7c77937",
                     *             "display_name": "Anna"
                     *           }
                     *         }
                     *       ],
                     *       "limit": 1,
                     *       "has_more": false,
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The versions of this page. */
                        versions: components["schemas"]["NamedVersion"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `cursor` of the next page. Null when there is no next page. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postBoardsByIdVersions: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Before the scout"
                 *     }
                 */
                "application/json": {
                    /** @description Name of the version, 1 to 200 characters. Spaces at both ends are removed. */
                    name: string;
                    /** @description A moment of the board: a time (RFC 3339, such as `2026-01-31T09:00:00Z`), a `position` of its history, or the id of a named version. */
                    as_of?: string;
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": {
                     *         "id": "444ea325-5198-4dfe-8989-7e93324925e0",
                     *         "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *         "name": "Before the scout",
                     *         "position": 6,
                     *         "at": "2026-03-02T09:30:00.000Z",
                     *         "changed_at": "2026-03-02T09:30:00.000Z",
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "created_by": {
                     *           "user_id": "3b87bfbb-7259-44e9-8b01-dc31c7c77937",
                     *           "display_name": "Anna"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        version: components["schemas"]["NamedVersion"];
                    };
                };
            };
        };
    };
    deleteBoardsByIdVersionsByVersionId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
                /**
                 * @description Id of the version.
                 * @example 444ea325-5198-4dfe-8989-7e93324925e0
                 */
                versionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "444ea325-5198-4dfe-8989-7e93324925e0"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        /**
                         * Format: uuid
                         * @description Id of the version.
                         */
                        id: string;
                    };
                };
            };
        };
    };
    patchBoardsByIdVersionsByVersionId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
                /**
                 * @description Id of the version.
                 * @example 444ea325-5198-4dfe-8989-7e93324925e0
                 */
                versionId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Approved"
                 *     }
                 */
                "application/json": {
                    /** @description Name of the version, 1 to 200 characters. Spaces at both ends are removed. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": {
                     *         "id": "444ea325-5198-4dfe-8989-7e93324925e0",
                     *         "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *         "name": "Approved",
                     *         "position": 6,
                     *         "at": "2026-03-02T09:30:00.000Z",
                     *         "changed_at": "2026-03-02T09:30:00.000Z",
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "created_by": {
                     *           "user_id": "3b87bfbb-7259-44e9-8b01-dc31c7c77937",
                     *           "display_name": "Anna"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        version: components["schemas"]["NamedVersion"];
                    };
                };
            };
        };
    };
    getBoardsByIdShares: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 500. Default: 100. */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "shares": [
                     *         {
                     *           "user_id": "19c79ca7-b1d4-4237-862b-300cbadd7b43",
                     *           "email": "anna@example.com",
                     *           "display_name": "Ben",
                     *           "role": "viewer",
                     *           "history_since": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "limit": 100,
                     *       "offset": 0,
                     *       "has_more": false,
                     *       "next_offset": null
                     *     }
                     */
                    "application/json": {
                        /** @description The shares of this page. */
                        shares: components["schemas"]["Share"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    };
                };
            };
        };
    };
    postBoardsByIdShares: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "user_id": "19c79ca7-b1d4-4237-862b-300cbadd7b43",
                 *       "role": "viewer",
                 *       "history": true
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description Id of the account.
                     */
                    user_id: string;
                    /**
                     * @description `editor` or `viewer`.
                     * @enum {string}
                     */
                    role: "editor" | "viewer";
                    /** @description Whether the account sees the history of the board, from now on. */
                    history?: boolean;
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "share": {
                     *         "user_id": "19c79ca7-b1d4-4237-862b-300cbadd7b43",
                     *         "email": "anna@example.com",
                     *         "display_name": "Ben",
                     *         "role": "viewer",
                     *         "history_since": "2026-03-02T09:30:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        share: components["schemas"]["Share"];
                    };
                };
            };
        };
    };
    deleteBoardsByIdSharesByUserId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
                /**
                 * @description Id of the account.
                 * @example 19c79ca7-b1d4-4237-862b-300cbadd7b43
                 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "user_id": "19c79ca7-b1d4-4237-862b-300cbadd7b43"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        /**
                         * Format: uuid
                         * @description Id of the account.
                         */
                        user_id: string;
                    };
                };
            };
        };
    };
    patchBoardsByIdSharesByUserId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
                /**
                 * @description Id of the account.
                 * @example 19c79ca7-b1d4-4237-862b-300cbadd7b43
                 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "role": "editor"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description `editor` or `viewer`.
                     * @enum {string}
                     */
                    role?: "editor" | "viewer";
                    /** @description Whether the account sees the history of the board, from now on. */
                    history?: boolean;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "share": {
                     *         "user_id": "19c79ca7-b1d4-4237-862b-300cbadd7b43",
                     *         "email": "anna@example.com",
                     *         "display_name": "Ben",
                     *         "role": "editor",
                     *         "history_since": "2026-03-02T09:30:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        share: components["schemas"]["Share"];
                    };
                };
            };
        };
    };
    getBoardsByIdLinks: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 500. Default: 100. */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "links": [
                     *         {
                     *           "id": "d8fb3b5f-55a1-4852-8b59-2c20fc9140d1",
                     *           "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *           "name": "For the crew",
                     *           "role": "editor",
                     *           "has_password": false,
                     *           "history_since": null,
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "expires_at": "2026-03-02T09:30:00.000Z",
                     *           "uses": 1,
                     *           "last_used_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "limit": 100,
                     *       "offset": 0,
                     *       "has_more": false,
                     *       "next_offset": null
                     *     }
                     */
                    "application/json": {
                        /** @description The links of this page. */
                        links: components["schemas"]["Link"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    };
                };
            };
        };
    };
    postBoardsByIdLinks: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "role": "editor",
                 *       "name": "For the crew",
                 *       "expires_at": "2026-03-02T09:30:00.000Z"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description `editor`: guests change the board. `viewer`: they read it.
                     * @enum {string}
                     */
                    role: "editor" | "viewer";
                    /** @description Name of the link, for you. */
                    name?: string;
                    /**
                     * Format: date-time
                     * @description From then on the link does not work, and its guests are disconnected. RFC 3339.
                     */
                    expires_at?: string;
                    /** @description A password that guests need, 8 to 200 characters. */
                    password?: string;
                    /** @description Whether guests see the history of the board, from now on. */
                    history?: boolean;
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "link": {
                     *         "id": "d8fb3b5f-55a1-4852-8b59-2c20fc9140d1",
                     *         "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *         "name": "For the crew",
                     *         "role": "editor",
                     *         "has_password": false,
                     *         "history_since": null,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "expires_at": "2026-03-02T09:30:00.000Z",
                     *         "uses": 0,
                     *         "last_used_at": null
                     *       },
                     *       "token": "q8Zt3nKx1Wc6RmBv0YdLs4PfHj7GaEu2iOoTe9Xy5Ck"
                     *     }
                     */
                    "application/json": {
                        link: components["schemas"]["Link"];
                        /** @description The token of the link. It is not shown again. */
                        token: string;
                    };
                };
            };
        };
    };
    deleteBoardsByIdLinksByLinkId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
                /**
                 * @description Id of the link.
                 * @example d8fb3b5f-55a1-4852-8b59-2c20fc9140d1
                 */
                linkId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "d8fb3b5f-55a1-4852-8b59-2c20fc9140d1"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        /**
                         * Format: uuid
                         * @description Id of the link.
                         */
                        id: string;
                    };
                };
            };
        };
    };
    postLinksOpen: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "q8Zt3nKx1Wc6RmBv0YdLs4PfHj7GaEu2iOoTe9Xy5Ck",
                 *       "name": "Dora"
                 *     }
                 */
                "application/json": {
                    /** @description The token of the link. */
                    token: string;
                    /** @description Your name. Others on the board see it. */
                    name: string;
                    /** @description The password, if the link has one. */
                    password?: string;
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "cork_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ",
                     *       "expires_at": "2026-03-02T09:30:00.000Z",
                     *       "user_id": "4823a870-4f11-4eee-873c-7c4ab4c0a9d2",
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "role": "editor"
                     *     }
                     */
                    "application/json": {
                        /** @description The token of the guest. It is not shown again. */
                        access_token: string;
                        /**
                         * Format: date-time
                         * @description When the token expires.
                         */
                        expires_at: string;
                        /**
                         * Format: uuid
                         * @description Id of the account.
                         */
                        user_id: string;
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /**
                         * @description `editor` or `viewer`.
                         * @enum {string}
                         */
                        role: "editor" | "viewer";
                    };
                };
            };
        };
    };
    getBoardsByIdCards: {
        parameters: {
            query?: {
                /** @description Read the index instead of the live board: fewer fields, and some seconds behind open editors. */
                source?: "index";
                /** @description Starts a change feed: lists changes at or after this time, oldest first. RFC 3339, such as `2026-01-31T09:00:00Z`. */
                since?: string;
                /** @description `1`, with `since`: include the cards that were removed or moved away in the last 30 days. */
                deleted?: "1" | "0";
                /** @description The `next_cursor` of the previous page. Send it with the same filters. */
                cursor?: string;
                /** @description Which fields to add to each card: a comma list of `props`, `identifiers`, `raw`, `urls`. With `source=index` only `identifiers`. */
                include?: string;
                /** @description A moment of the board: a time (RFC 3339, such as `2026-01-31T09:00:00Z`), a `position` of its history, or the id of a named version. */
                as_of?: string;
                /**
                 * @description Most entries of a page, 1 to 500. Default: 100.
                 * @example 1
                 */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "cards": [
                     *         {
                     *           "id": "tllbZBuQ2PDVzQCr",
                     *           "kind": "note",
                     *           "title": "Scout the tower",
                     *           "body": "Morning light, before the ferry comes.",
                     *           "html": null,
                     *           "url": null,
                     *           "image_key": null,
                     *           "alt": null,
                     *           "color": "#ffd966",
                     *           "x": 0,
                     *           "y": 0,
                     *           "w": 280,
                     *           "h": 180,
                     *           "z": 1,
                     *           "rotation": 0,
                     *           "section_header": false,
                     *           "version": "SeogF2jlX9pVYjLkQOFL-a",
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "updated_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "total": 3,
                     *       "limit": 1,
                     *       "offset": 0,
                     *       "has_more": true,
                     *       "next_offset": 1
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /** @description The cards of this page. */
                        cards: components["schemas"]["Card"][];
                        /** @description How many cards are on the board. */
                        total: number;
                        /** @description The moment that the answer shows. */
                        as_of?: {
                            /** @description Position in the history of the board. It grows with each change. */
                            position: number;
                            /**
                             * Format: date-time
                             * @description When the board became like this. Null when that is no longer known.
                             */
                            at: string | null;
                        };
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    } | {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /**
                         * @description Always `index`.
                         * @constant
                         */
                        source: "index";
                        /** @description The cards of this page. */
                        cards: (components["schemas"]["IndexCard"] | components["schemas"]["RemovedCard"])[];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `cursor` of the next page. Null when there is no next page. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postBoardsByIdCards: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "note",
                 *       "title": "Scout the tower",
                 *       "body": "Morning light, before the ferry comes.",
                 *       "color": "#ffd966",
                 *       "identifiers": [
                 *         {
                 *           "scope": "shotgrid",
                 *           "value": "Shot 1842"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description What the card is: one of note, image, link, doc, video, audio, pdf, file. Required on create. */
                    kind?: string;
                    /** @description One line of text. Null clears it, as for every text field. */
                    title?: string | null;
                    /** @description Plain text. For an image its caption, for audio its transcript. */
                    body?: string | null;
                    /** @description Formatted text. Scripts, styles and unknown tags are removed. */
                    html?: string | null;
                    /** @description An http, https or mailto URL that the card links to. */
                    url?: string | null;
                    /** @description Key of the uploaded image that the card shows. */
                    image_key?: string | null;
                    /** @description Key of the uploaded file that the card holds. */
                    file_key?: string | null;
                    /** @description Key of the uploaded image that a video card shows before it plays. */
                    poster_key?: string | null;
                    /** @description The name that is shown for a pdf or another file. */
                    file_name?: string | null;
                    /** @description Media type of the file, such as `video/mp4`. */
                    mime?: string | null;
                    /** @description Extension of the file, without the dot. */
                    ext?: string | null;
                    /** @description What the image shows, for people who can’t see it. */
                    alt?: string | null;
                    /** @description The color of the card, as editors write it, such as `#ffd966`. */
                    color?: string | null;
                    /** @description Id of the group that the card is in. Null takes it out. */
                    group_id?: string | null;
                    /** @description The line under a section heading. */
                    sub?: string | null;
                    /** @description Size of the file in bytes, rounded. */
                    size_bytes?: number | null;
                    /** @description Left edge in canvas pixels, growing to the right. Rounded. Without `x` and `y` a new card gets a free place. */
                    x?: number;
                    /** @description Top edge in canvas pixels, growing downwards. Rounded. Without `x` and `y` a new card gets a free place. */
                    y?: number;
                    /** @description Width in canvas pixels, clamped to 40 to 4000. 280 on create when absent. */
                    w?: number;
                    /** @description Height in canvas pixels, clamped to 40 to 4000. 180 on create when absent. */
                    h?: number;
                    /** @description Stacking order: higher is in front. A new card without it is above all others. */
                    z?: number;
                    /** @description Degrees, wrapped into -180 to 180. */
                    rotation?: number;
                    /** @description Whether the card is shown as a full-width heading. */
                    section_header?: boolean;
                    /** @description Free properties: any JSON object of at most 16 KB and 5 levels. A write replaces the whole object. */
                    props?: {
                        [key: string]: unknown;
                    } | null;
                    /** @description Ids in other systems, at most 20. A write replaces the whole list. */
                    identifiers?: components["schemas"]["Identifier"][] | null;
                    /**
                     * Format: uuid
                     * @description The `restore_token` of a removed card, at most 30 days old. What the API does not show of that card is restored with it.
                     */
                    restore_token?: string;
                    /** @description The batch form: all of these cards are created, or none. */
                    cards?: components["schemas"]["CardInput"][];
                    /**
                     * @description How the cards are arranged.
                     * @enum {string}
                     */
                    layout?: "justified" | "masonry" | "grid" | "row" | "column";
                    /**
                     * @description A card of the board that has one of the identifiers is changed, and no card is created.
                     * @constant
                     */
                    on_conflict?: "identifier";
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "cards": [
                     *         {
                     *           "id": "tllbZBuQ2PDVzQCr",
                     *           "kind": "note",
                     *           "title": "Scout the tower",
                     *           "body": "Morning light, before the ferry comes.",
                     *           "html": null,
                     *           "url": null,
                     *           "image_key": null,
                     *           "alt": null,
                     *           "color": "#ffd966",
                     *           "x": 0,
                     *           "y": 0,
                     *           "w": 280,
                     *           "h": 180,
                     *           "z": 1,
                     *           "rotation": 0,
                     *           "section_header": false,
                     *           "props": null,
                     *           "identifiers": [
                     *             {
                     *               "scope": "shotgrid",
                     *               "value": "Shot 1842"
                     *             }
                     *           ],
                     *           "version": "SeogF2jlX9pVYjLkQOFL-a",
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "updated_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "live": true
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /** @description The cards, in the order of the request. */
                        cards: components["schemas"]["Card"][];
                        /** @description With `on_conflict`: how many cards are new. */
                        created?: number;
                        /** @description With `on_conflict`: how many cards were changed. */
                        updated?: number;
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    deleteBoardsByIdCards: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "card_ids": [
                 *         "JDhco9_CBmORzbxF"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Ids of the cards to remove. Required without `cards`. */
                    card_ids?: string[];
                    /** @description The cards to remove, in place of `card_ids`. */
                    cards?: {
                        /** @description Id of the card. */
                        id: string;
                        /** @description The `version` that the card must have. If it has another one, the card is left alone and is in `conflicts`. */
                        if_version?: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "deleted": 1,
                     *       "cards": [
                     *         {
                     *           "id": "JDhco9_CBmORzbxF",
                     *           "kind": "note",
                     *           "title": "Call the keeper",
                     *           "body": null,
                     *           "html": null,
                     *           "url": null,
                     *           "image_key": null,
                     *           "alt": null,
                     *           "color": "#9fc5e8",
                     *           "x": 300,
                     *           "y": 0,
                     *           "w": 280,
                     *           "h": 180,
                     *           "z": 2,
                     *           "rotation": 0,
                     *           "section_header": false,
                     *           "props": null,
                     *           "identifiers": [],
                     *           "version": "sZ-O2uLubCJbcniyicKCOr",
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "updated_at": "2026-03-02T09:30:00.000Z",
                     *           "restore_token": "3310c60f-d7f1-4312-81c4-f8bd284d0161"
                     *         }
                     *       ],
                     *       "not_found": [],
                     *       "conflicts": [],
                     *       "live": true,
                     *       "restore_with": "POST /boards/cb4aec88-9ac8-48d5-8812-a44cc47d1c10/cards"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /** @description How many cards were removed. */
                        deleted: number;
                        /** @description The cards that were removed, each with its `restore_token`. */
                        cards: components["schemas"]["Card"][];
                        /** @description The cards whose version is not their `if_version`, as they are now. They were left alone. */
                        conflicts: components["schemas"]["Card"][];
                        /** @description Ids from the request that are not on the board. */
                        not_found: string[];
                        /** @description The operation that restores what was removed. */
                        restore_with: string;
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    patchBoardsByIdCards: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "cards": [
                 *         {
                 *           "id": "JDhco9_CBmORzbxF",
                 *           "color": "#9fc5e8"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The cards to change, each with its id and the fields to change. */
                    cards: {
                        /** @description Id of the card. */
                        id: string;
                        /** @description The `version` that the card must have. If it has another one, the card is left alone and is in `conflicts`. */
                        if_version?: string;
                        /** @description What the card is: one of note, image, link, doc, video, audio, pdf, file. Required on create. */
                        kind?: string;
                        /** @description One line of text. Null clears it, as for every text field. */
                        title?: string | null;
                        /** @description Plain text. For an image its caption, for audio its transcript. */
                        body?: string | null;
                        /** @description Formatted text. Scripts, styles and unknown tags are removed. */
                        html?: string | null;
                        /** @description An http, https or mailto URL that the card links to. */
                        url?: string | null;
                        /** @description Key of the uploaded image that the card shows. */
                        image_key?: string | null;
                        /** @description Key of the uploaded file that the card holds. */
                        file_key?: string | null;
                        /** @description Key of the uploaded image that a video card shows before it plays. */
                        poster_key?: string | null;
                        /** @description The name that is shown for a pdf or another file. */
                        file_name?: string | null;
                        /** @description Media type of the file, such as `video/mp4`. */
                        mime?: string | null;
                        /** @description Extension of the file, without the dot. */
                        ext?: string | null;
                        /** @description What the image shows, for people who can’t see it. */
                        alt?: string | null;
                        /** @description The color of the card, as editors write it, such as `#ffd966`. */
                        color?: string | null;
                        /** @description Id of the group that the card is in. Null takes it out. */
                        group_id?: string | null;
                        /** @description The line under a section heading. */
                        sub?: string | null;
                        /** @description Size of the file in bytes, rounded. */
                        size_bytes?: number | null;
                        /** @description Left edge in canvas pixels, growing to the right. Rounded. Without `x` and `y` a new card gets a free place. */
                        x?: number;
                        /** @description Top edge in canvas pixels, growing downwards. Rounded. Without `x` and `y` a new card gets a free place. */
                        y?: number;
                        /** @description Width in canvas pixels, clamped to 40 to 4000. 280 on create when absent. */
                        w?: number;
                        /** @description Height in canvas pixels, clamped to 40 to 4000. 180 on create when absent. */
                        h?: number;
                        /** @description Stacking order: higher is in front. A new card without it is above all others. */
                        z?: number;
                        /** @description Degrees, wrapped into -180 to 180. */
                        rotation?: number;
                        /** @description Whether the card is shown as a full-width heading. */
                        section_header?: boolean;
                        /** @description Free properties: any JSON object of at most 16 KB and 5 levels. A write replaces the whole object. */
                        props?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description Ids in other systems, at most 20. A write replaces the whole list. */
                        identifiers?: components["schemas"]["Identifier"][] | null;
                        /** @description The `body` that your edit started from. With it your edit is merged into what others wrote since; without it `body` replaces theirs. A merged text that would be longer than `body` may be is refused. */
                        body_base?: string | null;
                    }[];
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "cards": [
                     *         {
                     *           "id": "JDhco9_CBmORzbxF",
                     *           "kind": "note",
                     *           "title": "Call the keeper",
                     *           "body": null,
                     *           "html": null,
                     *           "url": null,
                     *           "image_key": null,
                     *           "alt": null,
                     *           "color": "#9fc5e8",
                     *           "x": 300,
                     *           "y": 0,
                     *           "w": 280,
                     *           "h": 180,
                     *           "z": 2,
                     *           "rotation": 0,
                     *           "section_header": false,
                     *           "props": null,
                     *           "identifiers": [],
                     *           "version": "sZ-O2uLubCJbcniyicKCOr",
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "updated_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "updated": 1,
                     *       "not_found": [],
                     *       "live": true,
                     *       "conflicts": []
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /** @description The cards that were changed, as they are now. */
                        cards: components["schemas"]["Card"][];
                        /** @description How many cards were changed. */
                        updated: number;
                        /** @description The cards whose version is not their `if_version`, as they are now. They were left alone. */
                        conflicts: components["schemas"]["Card"][];
                        /** @description Ids from the request that are not on the board. */
                        not_found: string[];
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    getBoardsByIdCardsByCardId: {
        parameters: {
            query?: {
                /** @description Which fields to add: a comma list of `props`, `identifiers`, `raw`, `urls`. A single card has the first two in any case. */
                include?: string;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
                /**
                 * @description Id of the card.
                 * @example tllbZBuQ2PDVzQCr
                 */
                cardId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "card": {
                     *         "id": "tllbZBuQ2PDVzQCr",
                     *         "kind": "note",
                     *         "title": "Scout the tower",
                     *         "body": "Morning light, before the ferry comes.",
                     *         "html": null,
                     *         "url": null,
                     *         "image_key": null,
                     *         "alt": null,
                     *         "color": "#ffd966",
                     *         "x": 0,
                     *         "y": 0,
                     *         "w": 280,
                     *         "h": 180,
                     *         "z": 1,
                     *         "rotation": 0,
                     *         "section_header": false,
                     *         "props": null,
                     *         "identifiers": [
                     *           {
                     *             "scope": "shotgrid",
                     *             "value": "Shot 1842"
                     *           }
                     *         ],
                     *         "version": "SeogF2jlX9pVYjLkQOFL-a",
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "updated_at": "2026-03-02T09:30:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        card: components["schemas"]["Card"];
                    };
                };
            };
        };
    };
    deleteBoardsByIdCardsByCardId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description The `etag` that you read: the `version` in quotes. If the object has another version, the answer is 412, and nothing is changed. Accepts several tags, separated by commas. `*` accepts every version. */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
                /**
                 * @description Id of the card.
                 * @example tllbZBuQ2PDVzQCr
                 */
                cardId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "card": {
                     *         "id": "tllbZBuQ2PDVzQCr",
                     *         "kind": "note",
                     *         "title": "Scout the tower at dawn",
                     *         "body": "Morning light, before the ferry comes.",
                     *         "html": null,
                     *         "url": null,
                     *         "image_key": null,
                     *         "alt": null,
                     *         "color": "#ffd966",
                     *         "x": 0,
                     *         "y": 0,
                     *         "w": 280,
                     *         "h": 180,
                     *         "z": 1,
                     *         "rotation": 0,
                     *         "section_header": false,
                     *         "props": null,
                     *         "identifiers": [
                     *           {
                     *             "scope": "shotgrid",
                     *             "value": "Shot 1842"
                     *           }
                     *         ],
                     *         "version": "9HYaoCPDY53DcaIzbuNRSr",
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "updated_at": "2026-03-02T09:30:00.000Z",
                     *         "restore_token": "b09b50f3-c46c-489f-8628-96fb5a081e8c"
                     *       },
                     *       "restore_with": "POST /boards/cb4aec88-9ac8-48d5-8812-a44cc47d1c10/cards",
                     *       "live": true
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        card: components["schemas"]["Card"];
                        /** @description The operation that restores what was removed. */
                        restore_with: string;
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    patchBoardsByIdCardsByCardId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description The `etag` that you read: the `version` in quotes. If the object has another version, the answer is 412, and nothing is changed. Accepts several tags, separated by commas. `*` accepts every version. */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
                /**
                 * @description Id of the card.
                 * @example tllbZBuQ2PDVzQCr
                 */
                cardId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Scout the tower at dawn"
                 *     }
                 */
                "application/json": components["schemas"]["CardPatch"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "card": {
                     *         "id": "tllbZBuQ2PDVzQCr",
                     *         "kind": "note",
                     *         "title": "Scout the tower at dawn",
                     *         "body": "Morning light, before the ferry comes.",
                     *         "html": null,
                     *         "url": null,
                     *         "image_key": null,
                     *         "alt": null,
                     *         "color": "#ffd966",
                     *         "x": 0,
                     *         "y": 0,
                     *         "w": 280,
                     *         "h": 180,
                     *         "z": 1,
                     *         "rotation": 0,
                     *         "section_header": false,
                     *         "props": null,
                     *         "identifiers": [
                     *           {
                     *             "scope": "shotgrid",
                     *             "value": "Shot 1842"
                     *           }
                     *         ],
                     *         "version": "9HYaoCPDY53DcaIzbuNRSr",
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "updated_at": "2026-03-02T09:30:00.000Z"
                     *       },
                     *       "live": true
                     *     }
                     */
                    "application/json": {
                        card: components["schemas"]["Card"];
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    getBoardsByIdCardsByCardIdHistory: {
        parameters: {
            query?: {
                /** @description Changes at or after this time only. RFC 3339. */
                since?: string;
                /** @description Changes at or before this time only. RFC 3339. */
                until?: string;
                /** @description Changes by this account only. */
                actor?: string;
                /** @description The `next_cursor` of the previous page. Send it with the same filters. */
                cursor?: string;
                /**
                 * @description Most entries of a page, 1 to 500. Default: 100.
                 * @example 1
                 */
                limit?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
                /**
                 * @description Id of the card.
                 * @example tllbZBuQ2PDVzQCr
                 */
                cardId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "entries": [
                     *         {
                     *           "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *           "position": 3,
                     *           "before": 2,
                     *           "at": "2026-03-02T09:30:00.000Z",
                     *           "began_at": "2026-03-02T09:30:00.000Z",
                     *           "by": "api",
                     *           "actors": [
                     *             {
                     *               "user_id": "3b87bfbb-7259-44e9-8b01-dc31c7c77937",
                     *               "display_name": "Anna"
                     *             }
                     *           ],
                     *           "action": "card.update",
                     *           "request_id": "req-3f",
                     *           "operation_id": "88bc5d2c-2bc2-4271-8105-b8cb609fe3df",
                     *           "token_ids": [
                     *             "a22a5fa6-4882-4a44-88ac-638a5e8472b9"
                     *           ],
                     *           "other_board_id": null,
                     *           "counts": {
                     *             "added": 0,
                     *             "removed": 0,
                     *             "changed": 1,
                     *             "groups": 0
                     *           },
                     *           "card_ids": [
                     *             "tllbZBuQ2PDVzQCr"
                     *           ],
                     *           "fields": [
                     *             "title"
                     *           ],
                     *           "summary": "Anna changed 1 card (title) through the API."
                     *         }
                     *       ],
                     *       "kept_since": "2026-03-02T09:30:00.000Z",
                     *       "limit": 1,
                     *       "has_more": true,
                     *       "next_cursor": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10|3.0|9007199254740991|"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /** @description The entries of this page. A page may have fewer entries than `limit`. */
                        entries: components["schemas"]["HistoryEntry"][];
                        /**
                         * Format: date-time
                         * @description The first moment of the board that is kept and that you may see.
                         */
                        kept_since: string;
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `cursor` of the next page. Null when there is no next page. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    deleteBoardsByIdCardsByCardIdHistory: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
                /**
                 * @description Id of the card.
                 * @example tllbZBuQ2PDVzQCr
                 */
                cardId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "card_id": "tllbZBuQ2PDVzQCr",
                     *       "other_board_ids": []
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /** @description Id of the card. */
                        card_id: string;
                        /** @description Boards that the card was moved from or to, and where it may have a past under its id there. */
                        other_board_ids: string[];
                    };
                };
            };
        };
    };
    postBoardsByIdCardsMove: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "to_board_id": "327fbcaf-c916-4187-81dd-45414a6137ea",
                 *       "card_ids": [
                 *         "NUdzWiJ6-UuaYnyk"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description Id of the board to move the cards to.
                     */
                    to_board_id: string;
                    /** @description Ids of the cards to move. */
                    card_ids: string[];
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "to_board_id": "327fbcaf-c916-4187-81dd-45414a6137ea",
                     *       "moved": 1,
                     *       "cards": [
                     *         {
                     *           "id": "NUdzWiJ6-UuaYnyk",
                     *           "kind": "note",
                     *           "title": "Rent a boat",
                     *           "body": null,
                     *           "html": null,
                     *           "url": null,
                     *           "image_key": null,
                     *           "alt": null,
                     *           "color": null,
                     *           "x": 600,
                     *           "y": 0,
                     *           "w": 280,
                     *           "h": 180,
                     *           "z": 3,
                     *           "rotation": 0,
                     *           "section_header": false,
                     *           "props": null,
                     *           "identifiers": [],
                     *           "version": "Z8pvHFPtSlcR1URx4A01IE",
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "updated_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "not_found": [],
                     *       "renamed": {},
                     *       "live": true
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board that the cards are on now.
                         */
                        to_board_id: string;
                        /** @description How many cards were moved. */
                        moved: number;
                        /** @description The cards that were moved, as they are now. */
                        cards: components["schemas"]["Card"][];
                        /** @description Ids from the request that are not on the board. */
                        not_found: string[];
                        /** @description New ids by old ids, for cards whose id was already on the target board. */
                        renamed: {
                            [key: string]: string;
                        };
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    getWebhooks: {
        parameters: {
            query?: {
                /**
                 * @description Only webhooks of this workspace.
                 * @example cd3d4eb4-85fd-495f-87e5-62af6c692c12
                 */
                workspace?: string;
                /** @description Most entries of a page, 1 to 500. Default: 100. */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhooks": [
                     *         {
                     *           "id": "b59d0bfd-c132-4602-8725-20b39bb9e99c",
                     *           "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *           "url": "https://hooks.example/hook",
                     *           "events": [
                     *             "*"
                     *           ],
                     *           "name": "Build pipeline",
                     *           "active": true,
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "updated_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "limit": 100,
                     *       "offset": 0,
                     *       "has_more": false,
                     *       "next_offset": null
                     *     }
                     */
                    "application/json": {
                        /** @description The webhooks of this page. */
                        webhooks: components["schemas"]["Webhook"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    };
                };
            };
        };
    };
    postWebhooks: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                 *       "url": "https://hooks.example/hook",
                 *       "events": [
                 *         "*"
                 *       ],
                 *       "name": "Build pipeline"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description Id of the workspace.
                     */
                    workspace_id: string;
                    /**
                     * Format: uri
                     * @description The URL to post events to: a public https URL on the default port, at most 2000 characters.
                     */
                    url: string;
                    /** @description The events to subscribe to: board.created, board.updated, board.deleted, board.restored, card.created, card.updated, card.deleted, card.moved, image.created. Or `*` alone for all events, including events added later. */
                    events: string[];
                    /** @description Name of the webhook, for people. At most 200 characters. */
                    name?: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhook": {
                     *         "id": "b59d0bfd-c132-4602-8725-20b39bb9e99c",
                     *         "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *         "url": "https://hooks.example/hook",
                     *         "events": [
                     *           "*"
                     *         ],
                     *         "name": "Build pipeline",
                     *         "active": true,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "updated_at": "2026-03-02T09:30:00.000Z"
                     *       },
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
                     *       "next": "Store the secret now: it is not shown again. Use it to verify the signature of each delivery, over the raw body. Send a test delivery with POST /webhooks/{id}/test."
                     *     }
                     */
                    "application/json": {
                        webhook: components["schemas"]["Webhook"];
                        /** @description The secret that signs deliveries, `whsec_…`. It is not shown again. */
                        secret: string;
                        /** @description The next steps, as text for a person. */
                        next: string;
                    };
                };
            };
        };
    };
    deleteWebhooksById: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the webhook.
                 * @example b59d0bfd-c132-4602-8725-20b39bb9e99c
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "b59d0bfd-c132-4602-8725-20b39bb9e99c"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        /**
                         * Format: uuid
                         * @description Id of the webhook.
                         */
                        id: string;
                    };
                };
            };
        };
    };
    patchWebhooksById: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the webhook.
                 * @example b59d0bfd-c132-4602-8725-20b39bb9e99c
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "events": [
                 *         "card.created",
                 *         "card.updated"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uri
                     * @description The URL to post events to: a public https URL on the default port, at most 2000 characters.
                     */
                    url?: string;
                    /** @description The events to subscribe to: board.created, board.updated, board.deleted, board.restored, card.created, card.updated, card.deleted, card.moved, image.created. Or `*` alone for all events, including events added later. */
                    events?: string[];
                    /** @description Name of the webhook, for people. At most 200 characters. */
                    name?: string;
                    /** @description `true`: switch it on and clear its failures. `false`: switch it off. */
                    active?: boolean;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhook": {
                     *         "id": "b59d0bfd-c132-4602-8725-20b39bb9e99c",
                     *         "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *         "url": "https://hooks.example/hook",
                     *         "events": [
                     *           "card.created",
                     *           "card.updated"
                     *         ],
                     *         "name": "Build pipeline",
                     *         "active": true,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "updated_at": "2026-03-02T09:30:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        webhook: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    postWebhooksByIdTest: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the webhook.
                 * @example b59d0bfd-c132-4602-8725-20b39bb9e99c
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delivery": {
                     *         "id": "7684f170-12f8-42d5-8c41-b4f84bc07c15",
                     *         "delivery_id": "7684f170-12f8-42d5-8c41-b4f84bc07c15",
                     *         "webhook_id": "b59d0bfd-c132-4602-8725-20b39bb9e99c",
                     *         "event": "webhook.test",
                     *         "status": "waiting",
                     *         "attempt": 1,
                     *         "attempts_left": 5,
                     *         "status_code": null,
                     *         "duration_ms": null,
                     *         "error": null,
                     *         "payload": "{\"type\":\"webhook.test\",\"resource\":{\"type\":\"webhook\",\"id\":\"b59d0bfd-c132-4602-8725-20b39bb9e99c\"},\"workspace\":{\"id\":\"cd3d4eb4-85fd-495f-87e5-62af6c692c12\"},\"board\":null,\"data\":{},\"occurred_at\":\"2026-03-02T09:30:00.000Z\"}",
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "attempted_at": null,
                     *         "next_attempt_at": "2026-03-02T09:30:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        delivery: components["schemas"]["Delivery"];
                    };
                };
            };
        };
    };
    postWebhooksByIdRotateSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the webhook.
                 * @example b59d0bfd-c132-4602-8725-20b39bb9e99c
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhook": {
                     *         "id": "b59d0bfd-c132-4602-8725-20b39bb9e99c",
                     *         "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *         "url": "https://hooks.example/hook",
                     *         "events": [
                     *           "card.created",
                     *           "card.updated"
                     *         ],
                     *         "name": "Build pipeline",
                     *         "active": true,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "updated_at": "2026-03-02T09:30:00.000Z",
                     *         "previous_secret_valid_until": "2026-03-02T09:30:00.000Z"
                     *       },
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
                     *       "previous_secret_valid_until": "2026-03-02T09:30:00.000Z"
                     *     }
                     */
                    "application/json": {
                        webhook: components["schemas"]["Webhook"];
                        /** @description The secret that signs deliveries, `whsec_…`. It is not shown again. */
                        secret: string;
                        /**
                         * Format: date-time
                         * @description Until then, deliveries are also signed with the previous secret.
                         */
                        previous_secret_valid_until: string;
                    };
                };
            };
        };
    };
    getWebhooksByIdDeliveries: {
        parameters: {
            query?: {
                /**
                 * @description Most entries of a page, 1 to 500. Default: 100.
                 * @example 1
                 */
                limit?: number;
                /** @description The `next_cursor` of the previous page. Send it with the same filters. */
                cursor?: string;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the webhook.
                 * @example b59d0bfd-c132-4602-8725-20b39bb9e99c
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deliveries": [
                     *         {
                     *           "id": "7684f170-12f8-42d5-8c41-b4f84bc07c15",
                     *           "delivery_id": "7684f170-12f8-42d5-8c41-b4f84bc07c15",
                     *           "webhook_id": "b59d0bfd-c132-4602-8725-20b39bb9e99c",
                     *           "event": "webhook.test",
                     *           "status": "succeeded",
                     *           "attempt": 1,
                     *           "attempts_left": 0,
                     *           "status_code": 200,
                     *           "duration_ms": 41,
                     *           "error": null,
                     *           "payload": "{\"type\":\"webhook.test\",\"resource\":{\"type\":\"webhook\",\"id\":\"b59d0bfd-c132-4602-8725-20b39bb9e99c\"},\"workspace\":{\"id\":\"cd3d4eb4-85fd-495f-87e5-62af6c692c12\"},\"board\":null,\"data\":{},\"occurred_at\":\"2026-03-02T09:30:00.000Z\"}",
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "attempted_at": "2026-03-02T09:30:00.000Z",
                     *           "next_attempt_at": null
                     *         }
                     *       ],
                     *       "limit": 1,
                     *       "has_more": true,
                     *       "next_cursor": "2026-03-02T09:30:00.000Z|7684f170-12f8-42d5-8c41-b4f84bc07c15|b59d0bfd-c132-4602-8725-20b39bb9e99c"
                     *     }
                     */
                    "application/json": {
                        /** @description The entries of this page. */
                        deliveries: components["schemas"]["Delivery"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `cursor` of the next page. Null when there is no next page. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postWebhooksByIdDeliveriesByDeliveryIdRedeliver: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the webhook.
                 * @example b59d0bfd-c132-4602-8725-20b39bb9e99c
                 */
                id: string;
                /**
                 * @description Id of the delivery, or of one of its attempts.
                 * @example 7684f170-12f8-42d5-8c41-b4f84bc07c15
                 */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delivery": {
                     *         "id": "7684f170-12f8-42d5-8c41-b4f84bc07c15",
                     *         "delivery_id": "7684f170-12f8-42d5-8c41-b4f84bc07c15",
                     *         "webhook_id": "b59d0bfd-c132-4602-8725-20b39bb9e99c",
                     *         "event": "webhook.test",
                     *         "status": "waiting",
                     *         "attempt": 1,
                     *         "attempts_left": 5,
                     *         "status_code": null,
                     *         "duration_ms": null,
                     *         "error": null,
                     *         "payload": "{\"type\":\"webhook.test\",\"resource\":{\"type\":\"webhook\",\"id\":\"b59d0bfd-c132-4602-8725-20b39bb9e99c\"},\"workspace\":{\"id\":\"cd3d4eb4-85fd-495f-87e5-62af6c692c12\"},\"board\":null,\"data\":{},\"occurred_at\":\"2026-03-02T09:30:00.000Z\"}",
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "attempted_at": null,
                     *         "next_attempt_at": "2026-03-02T09:30:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        delivery: components["schemas"]["Delivery"];
                    };
                };
            };
        };
    };
    getEvents: {
        parameters: {
            query?: {
                /**
                 * @description Only events of this workspace.
                 * @example cd3d4eb4-85fd-495f-87e5-62af6c692c12
                 */
                workspace?: string;
                /** @description Only events of this board. */
                board?: string;
                /**
                 * @description Only events of these types: a comma list of `board.created`, `board.updated`, `board.deleted`, `board.restored`, `card.created`, `card.updated`, `card.deleted`, `card.moved`, `image.created`, `access.granted`, `access.ended`. Those of access come only when they are named, and tell the caller of its own access.
                 * @example board.created,board.updated
                 */
                type?: string;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description The `id` of the last event that you got. The stream begins after it. An id that is older than 7 days or unknown gets a `reset` event. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events. Each has its type in `event`, the body of a webhook delivery in `data`, and an `id`. The first one is `ready`, or `reset`: events may be missing, so read anew what you keep. Lines that begin with a colon keep the connection open. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    getResolve: {
        parameters: {
            query: {
                /**
                 * @description The `scope` of the identifier.
                 * @example shotgrid
                 */
                scope: string;
                /**
                 * @description The `value` of the identifier.
                 * @example Shot 1842
                 */
                value: string;
                /** @description Only matches of this type. */
                type?: "board" | "card" | "image";
                /** @description Only matches in this workspace. */
                workspace?: string;
                /** @description Most entries of a page, 1 to 500. Default: 100. */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "scope": "shotgrid",
                     *       "value": "Shot 1842",
                     *       "matches": [
                     *         {
                     *           "type": "card",
                     *           "id": "tllbZBuQ2PDVzQCr",
                     *           "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *           "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12"
                     *         }
                     *       ],
                     *       "limit": 100,
                     *       "offset": 0,
                     *       "has_more": false,
                     *       "next_offset": null
                     *     }
                     */
                    "application/json": {
                        /** @description The `scope` of the request. */
                        scope: string;
                        /** @description The `value` of the request. */
                        value: string;
                        /** @description The matches of this page. */
                        matches: components["schemas"]["IdentifierMatch"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    };
                };
            };
        };
    };
    postBoardsByIdArrange: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "layout": "grid",
                 *       "card_ids": [
                 *         "JDhco9_CBmORzbxF",
                 *         "NUdzWiJ6-UuaYnyk"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * @description How the cards are arranged; `justified` when absent.
                     * @enum {string}
                     */
                    layout?: "justified" | "masonry" | "grid" | "row" | "column";
                    /** @description Ids of the cards to arrange. Without it the whole board is arranged. */
                    card_ids?: string[];
                    /** @description Distance between cards in canvas pixels; 20 when absent. Rounded. */
                    gap?: number;
                    /** @description Width of the arranged block in canvas pixels. Rounded. */
                    width?: number;
                    /** @description Preferred height of a row in canvas pixels, of `justified` only; 180 when absent. Rounded. */
                    row_height?: number;
                    /** @description The most columns, of `grid` and `masonry` only. Rounded down. */
                    columns?: number;
                    /** @description `true`: compute the layout and write nothing. */
                    dry_run?: boolean;
                } | null;
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "layout": "grid",
                     *       "dry_run": false,
                     *       "cards": [
                     *         {
                     *           "id": "JDhco9_CBmORzbxF",
                     *           "x": 300,
                     *           "y": 0,
                     *           "w": 280,
                     *           "h": 180
                     *         },
                     *         {
                     *           "id": "NUdzWiJ6-UuaYnyk",
                     *           "x": 600,
                     *           "y": 0,
                     *           "w": 280,
                     *           "h": 180
                     *         }
                     *       ],
                     *       "moved": 0,
                     *       "not_found": [],
                     *       "live": true
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /**
                         * @description How the cards are arranged.
                         * @enum {string}
                         */
                        layout: "justified" | "masonry" | "grid" | "row" | "column";
                        /** @description The cards that the layout is for. */
                        cards: components["schemas"]["CardPlace"][];
                        /** @description How many cards get another place or size by it. */
                        moved: number;
                        /** @description Ids from the request that are not on the board. */
                        not_found: string[];
                        /** @description True when nothing was written. */
                        dry_run: boolean;
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    getBoardsByIdGroups: {
        parameters: {
            query?: {
                /** @description Most entries of a page, 1 to 500. Default: 100. */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "groups": [
                     *         {
                     *           "id": "Q3cqZCmV-jfeCKQI",
                     *           "name": "Permits",
                     *           "color": null,
                     *           "shape": "hug",
                     *           "outline": true,
                     *           "card_count": 0,
                     *           "created_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "limit": 100,
                     *       "offset": 0,
                     *       "has_more": false,
                     *       "next_offset": null
                     *     }
                     */
                    "application/json": {
                        /** @description The groups of this page. */
                        groups: components["schemas"]["Group"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    };
                };
            };
        };
    };
    postBoardsByIdGroups: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Permits",
                 *       "shape": "hug"
                 *     }
                 */
                "application/json": {
                    /** @description Name of the group, 1 to 200 characters. Spaces at both ends are removed. */
                    name: string;
                    /** @description Color of the group. Null: the default. */
                    color?: string | null;
                    /**
                     * @description `box` draws a rectangle around the cards, `hug` follows their outline. Default on create: `box`.
                     * @enum {string}
                     */
                    shape?: "box" | "hug";
                    /** @description Whether the outline is drawn. Default on create: true. */
                    outline?: boolean;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "group": {
                     *         "id": "Q3cqZCmV-jfeCKQI",
                     *         "color": null,
                     *         "shape": "hug",
                     *         "outline": true,
                     *         "name": "Permits",
                     *         "card_count": 0,
                     *         "created_at": "2026-03-02T09:30:00.000Z"
                     *       },
                     *       "live": true
                     *     }
                     */
                    "application/json": {
                        group: components["schemas"]["Group"];
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    deleteBoardsByIdGroupsByGroupId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
                /**
                 * @description Id of the group.
                 * @example Q3cqZCmV-jfeCKQI
                 */
                groupId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "group": {
                     *         "id": "Q3cqZCmV-jfeCKQI",
                     *         "name": "Permits",
                     *         "color": "#b6d7a8",
                     *         "shape": "hug",
                     *         "outline": true,
                     *         "card_count": 0,
                     *         "created_at": "2026-03-02T09:30:00.000Z"
                     *       },
                     *       "ungrouped": 0,
                     *       "live": true
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        group: components["schemas"]["Group"];
                        /** @description How many cards were in it. */
                        ungrouped: number;
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    patchBoardsByIdGroupsByGroupId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
                /**
                 * @description Id of the group.
                 * @example Q3cqZCmV-jfeCKQI
                 */
                groupId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "color": "#b6d7a8"
                 *     }
                 */
                "application/json": {
                    /** @description Name of the group, 1 to 200 characters. Spaces at both ends are removed. */
                    name?: string;
                    /** @description Color of the group. Null: the default. */
                    color?: string | null;
                    /**
                     * @description `box` draws a rectangle around the cards, `hug` follows their outline. Default on create: `box`.
                     * @enum {string}
                     */
                    shape?: "box" | "hug";
                    /** @description Whether the outline is drawn. Default on create: true. */
                    outline?: boolean;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "group": {
                     *         "id": "Q3cqZCmV-jfeCKQI",
                     *         "name": "Permits",
                     *         "color": "#b6d7a8",
                     *         "shape": "hug",
                     *         "outline": true,
                     *         "card_count": 0,
                     *         "created_at": "2026-03-02T09:30:00.000Z"
                     *       },
                     *       "live": true
                     *     }
                     */
                    "application/json": {
                        group: components["schemas"]["Group"];
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    getServiceAccounts: {
        parameters: {
            query: {
                /**
                 * @description Id of the workspace.
                 * @example cd3d4eb4-85fd-495f-87e5-62af6c692c12
                 */
                workspace: string;
                /** @description Most entries of a page, 1 to 500. Default: 100. */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "service_accounts": [
                     *         {
                     *           "id": "86b7cece-02f1-4f25-8354-9d5708c78c5f",
                     *           "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *           "name": "Nightly sync",
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "retired_at": null
                     *         }
                     *       ],
                     *       "limit": 100,
                     *       "offset": 0,
                     *       "has_more": false,
                     *       "next_offset": null
                     *     }
                     */
                    "application/json": {
                        /** @description The service accounts of this page. */
                        service_accounts: components["schemas"]["ServiceAccount"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    };
                };
            };
        };
    };
    postServiceAccounts: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                 *       "name": "Nightly sync",
                 *       "scopes": [
                 *         "read",
                 *         "write"
                 *       ],
                 *       "ttl_days": 90
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description Id of the workspace.
                     */
                    workspace_id: string;
                    /** @description Name for people, 1 to 200 characters. */
                    name: string;
                    /** @description What the token may do. `read` is always included. The token of this request must have these scopes itself. */
                    scopes?: ("read" | "write" | "delete")[];
                    /** @description Lifetime of the token in days, 1 to 3650. Without it, the token is valid until it is revoked. */
                    ttl_days?: number;
                    /** @description Requests that the token may send in an hour. The operator sets the maximum, `MAX_RATE_LIMIT_PER_HOUR` (default 100,000). */
                    rate_limit?: number;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "service_account": {
                     *         "id": "86b7cece-02f1-4f25-8354-9d5708c78c5f",
                     *         "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *         "name": "Nightly sync",
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "retired_at": null
                     *       },
                     *       "token": {
                     *         "id": "96fa7d0d-8019-4286-8e1b-5ca4a9c63087",
                     *         "name": "Nightly sync",
                     *         "prefix": "cork_01234",
                     *         "scopes": [
                     *           "read",
                     *           "write"
                     *         ],
                     *         "rate_limit": null,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "expires_at": "2026-03-02T09:30:00.000Z",
                     *         "last_used_at": null,
                     *         "revoked_at": null
                     *       },
                     *       "access_token": "cork_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"
                     *     }
                     */
                    "application/json": {
                        service_account: components["schemas"]["ServiceAccount"];
                        token: components["schemas"]["Token"];
                        /** @description The token itself. It is not shown again. */
                        access_token: string;
                    };
                };
            };
        };
    };
    deleteServiceAccountsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the service account.
                 * @example 86b7cece-02f1-4f25-8354-9d5708c78c5f
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "86b7cece-02f1-4f25-8354-9d5708c78c5f"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        /**
                         * Format: uuid
                         * @description Id of the service account.
                         */
                        id: string;
                    };
                };
            };
        };
    };
    getServiceAccountsByIdTokens: {
        parameters: {
            query?: {
                /**
                 * @description Most entries of a page, 1 to 500. Default: 100.
                 * @example 1
                 */
                limit?: number;
                /** @description Entries to skip: the `next_offset` of the previous page. */
                offset?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the service account.
                 * @example 86b7cece-02f1-4f25-8354-9d5708c78c5f
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "tokens": [
                     *         {
                     *           "id": "96fa7d0d-8019-4286-8e1b-5ca4a9c63087",
                     *           "name": "Nightly sync",
                     *           "prefix": "cork_01234",
                     *           "scopes": [
                     *             "read",
                     *             "write"
                     *           ],
                     *           "rate_limit": null,
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "expires_at": "2026-03-02T09:30:00.000Z",
                     *           "last_used_at": null,
                     *           "revoked_at": null
                     *         }
                     *       ],
                     *       "limit": 1,
                     *       "offset": 0,
                     *       "has_more": true,
                     *       "next_offset": 1
                     *     }
                     */
                    "application/json": {
                        /** @description The tokens of this page. */
                        tokens: components["schemas"]["Token"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Entries that were skipped. */
                        offset: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `offset` of the next page. Null on the last page. */
                        next_offset: number | null;
                    };
                };
            };
        };
    };
    postServiceAccountsByIdTokens: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the service account.
                 * @example 86b7cece-02f1-4f25-8354-9d5708c78c5f
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Staging"
                 *     }
                 */
                "application/json": {
                    /** @description Name for people, 1 to 200 characters. */
                    name?: string;
                    /** @description What the token may do. `read` is always included. The token of this request must have these scopes itself. */
                    scopes?: ("read" | "write" | "delete")[];
                    /** @description Lifetime of the token in days, 1 to 3650. Without it, the token is valid until it is revoked. */
                    ttl_days?: number;
                    /** @description Requests that the token may send in an hour. The operator sets the maximum, `MAX_RATE_LIMIT_PER_HOUR` (default 100,000). */
                    rate_limit?: number;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "token": {
                     *         "id": "50d52105-8686-4f36-8ab6-6f28e65d9e5c",
                     *         "name": "Staging",
                     *         "prefix": "cork_01234",
                     *         "scopes": [
                     *           "read"
                     *         ],
                     *         "rate_limit": null,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "expires_at": null,
                     *         "last_used_at": null,
                     *         "revoked_at": null
                     *       },
                     *       "access_token": "cork_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"
                     *     }
                     */
                    "application/json": {
                        token: components["schemas"]["Token"];
                        /** @description The token itself. It is not shown again. */
                        access_token: string;
                    };
                };
            };
        };
    };
    deleteServiceAccountsByIdTokensByTokenId: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the service account.
                 * @example 86b7cece-02f1-4f25-8354-9d5708c78c5f
                 */
                id: string;
                /**
                 * @description Id of the token.
                 * @example 50d52105-8686-4f36-8ab6-6f28e65d9e5c
                 */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "50d52105-8686-4f36-8ab6-6f28e65d9e5c"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always true.
                         * @constant
                         */
                        deleted: true;
                        /**
                         * Format: uuid
                         * @description Id of the token.
                         */
                        id: string;
                    };
                };
            };
        };
    };
    postSessions: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "board_ids": [
                 *         "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *       ],
                 *       "role": "editor",
                 *       "ttl_seconds": 3600,
                 *       "user": {
                 *         "id": "u-17",
                 *         "name": "Mia",
                 *         "color": "#ffd966"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description The boards that the session opens, all of one workspace. */
                    board_ids?: string[];
                    /**
                     * Format: uuid
                     * @description The workspace whose boards the session opens, all of them.
                     */
                    workspace_id?: string;
                    /**
                     * @description What the session may do on its boards.
                     * @enum {string}
                     */
                    role: "viewer" | "editor";
                    /** @description The user of your product to whom you give the session. */
                    user: {
                        /** @description Your own id of the user, 1 to 200 characters. It belongs to the workspace: the same id is the same user, whoever mints. */
                        id: string;
                        /** @description Name of the user, as others see it. */
                        name: string;
                        /** @description Color of the user, such as `#ffd966`. */
                        color?: string | null;
                        /** @description URL of a picture of the user, http or https. */
                        avatar_url?: string | null;
                        /** @description Whether the user is a program. Others see it marked as an agent. */
                        agent?: boolean;
                    };
                    /** @description Lifetime in seconds, 60 to 86400. Default: 3600. Mint again to go on. */
                    ttl_seconds?: number;
                    /** @description What the session may do. Default: `read` for a viewer, `read` and `write` for an editor. Never `delete` unless you name it. */
                    scopes?: ("read" | "write" | "delete")[];
                    /** @description Whether the session shows the history of its boards, from the first such session of the user on. */
                    history?: boolean;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "cork_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ",
                     *       "expires_at": "2026-03-02T09:30:00.000Z",
                     *       "session": {
                     *         "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *         "board_ids": [
                     *           "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                     *         ],
                     *         "role": "editor",
                     *         "scopes": [
                     *           "read",
                     *           "write"
                     *         ],
                     *         "history": false,
                     *         "user": {
                     *           "id": "u-17",
                     *           "account_id": "28e7b211-4041-494a-8c7e-45051d6b8fc6",
                     *           "name": "Mia",
                     *           "color": "#ffd966",
                     *           "avatar_url": null,
                     *           "agent": false
                     *         },
                     *         "issued_at": "2026-03-02T09:30:00.000Z",
                     *         "expires_at": "2026-03-02T09:30:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description The token of the session. It is not shown again. */
                        access_token: string;
                        /**
                         * Format: date-time
                         * @description When it expires.
                         */
                        expires_at: string;
                        session: components["schemas"]["Session"];
                    };
                };
            };
        };
    };
    deleteSessions: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                 *       "user_id": "u-17"
                 *     }
                 */
                "application/json": {
                    /** @description Your own id of the user, 1 to 200 characters. It belongs to the workspace: the same id is the same user, whoever mints. */
                    user_id?: string;
                    /**
                     * Format: uuid
                     * @description A board: whoever opens it.
                     */
                    board_id?: string;
                    /**
                     * Format: uuid
                     * @description The workspace of the user. Required for a personal token that names no board.
                     */
                    workspace_id?: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true
                     *     }
                     */
                    "application/json": {
                        /** @description Always true. */
                        deleted: boolean;
                    };
                };
            };
        };
    };
    getAudit: {
        parameters: {
            query?: {
                /** @description Starts a change feed: lists changes at or after this time, oldest first. RFC 3339, such as `2026-01-31T09:00:00Z`. */
                since?: string;
                /** @description The `next_cursor` of the previous page. Send it with the same filters. */
                cursor?: string;
                /**
                 * @description Most entries of a page, 1 to 500. Default: 100.
                 * @example 1
                 */
                limit?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "entries": [
                     *         {
                     *           "id": "48211",
                     *           "occurred_at": "2026-03-02T09:30:00.000Z",
                     *           "action": "notification.read",
                     *           "actor": {
                     *             "user_id": "3b87bfbb-7259-44e9-8b01-dc31c7c77937",
                     *             "display_name": "Anna",
                     *             "token_id": "a22a5fa6-4882-4a44-88ac-638a5e8472b9",
                     *             "service_account_id": null,
                     *             "client_id": null
                     *           },
                     *           "method": "POST",
                     *           "path": "/api/v1/notifications/read",
                     *           "status": 200,
                     *           "workspace_id": null,
                     *           "board_id": null,
                     *           "resource": {
                     *             "type": "notification",
                     *             "id": null
                     *           },
                     *           "request_id": "req-3f",
                     *           "ip": "203.0.113.7"
                     *         }
                     *       ],
                     *       "limit": 1,
                     *       "has_more": true,
                     *       "next_cursor": "before|2026-03-02T09:30:00.000Z|48211"
                     *     }
                     */
                    "application/json": {
                        /** @description The entries of this page. */
                        entries: components["schemas"]["AuditEntry"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `cursor` of the next page. Null when there is no next page. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getBoardsByIdExport: {
        parameters: {
            query?: {
                /**
                 * @description `json` (default): the board, its groups and cards, each card with its `raw`. `omc`: a list of OMC-JSON 2.8 entities.
                 * @example json
                 */
                format?: "json" | "omc";
                /** @description A moment of the board: a time (RFC 3339, such as `2026-01-31T09:00:00Z`), a `position` of its history, or the id of a named version. */
                as_of?: string;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example 327fbcaf-c916-4187-81dd-45414a6137ea
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "format": "json",
                     *       "version": 1,
                     *       "exported_at": "2026-03-02T09:30:00.000Z",
                     *       "board": {
                     *         "id": "327fbcaf-c916-4187-81dd-45414a6137ea",
                     *         "name": "Harbour at dusk",
                     *         "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *         "parent_board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *         "view": "canvas",
                     *         "deleted": false,
                     *         "created_at": "2026-03-02T09:30:00.000Z",
                     *         "updated_at": "2026-03-02T09:30:00.000Z",
                     *         "scheduled_date": null,
                     *         "scheduled_end": null,
                     *         "day_label": null,
                     *         "sched_status": "draft",
                     *         "sched_version": 0,
                     *         "sched_published_at": null,
                     *         "version": "OAcER1_Re5TuIkLKJ2LjXc",
                     *         "props": null,
                     *         "identifiers": []
                     *       },
                     *       "groups": [],
                     *       "cards": [
                     *         {
                     *           "id": "NUdzWiJ6-UuaYnyk",
                     *           "kind": "note",
                     *           "title": "Rent a boat",
                     *           "body": null,
                     *           "html": null,
                     *           "url": null,
                     *           "image_key": null,
                     *           "alt": null,
                     *           "color": null,
                     *           "x": 600,
                     *           "y": 0,
                     *           "w": 280,
                     *           "h": 180,
                     *           "z": 3,
                     *           "rotation": 0,
                     *           "section_header": false,
                     *           "props": null,
                     *           "identifiers": [],
                     *           "raw": {
                     *             "body": "",
                     *             "h": 180,
                     *             "kind": "note",
                     *             "title": "Rent a boat",
                     *             "w": 280,
                     *             "x": 600,
                     *             "y": 0,
                     *             "z": 3
                     *           },
                     *           "version": "Z8pvHFPtSlcR1URx4A01IE",
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "updated_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always `json`.
                         * @constant
                         */
                        format: "json";
                        /** @description Version of this format. */
                        version: number;
                        /**
                         * Format: date-time
                         * @description When the export was made.
                         */
                        exported_at: string;
                        /** @description The moment that the answer shows. */
                        as_of?: {
                            /** @description Position in the history of the board. It grows with each change. */
                            position: number;
                            /**
                             * Format: date-time
                             * @description When the board became like this. Null when that is no longer known.
                             */
                            at: string | null;
                        };
                        board: components["schemas"]["Board"];
                        /** @description All groups of the board. */
                        groups: components["schemas"]["Group"][];
                        /** @description All cards of the board, each with its `raw`. */
                        cards: components["schemas"]["Card"][];
                    } | ({
                        /** @description Version of OMC-JSON. */
                        schemaVersion: string;
                        /** @description Type of the entity. */
                        entityType: string;
                        /** @description Identifiers of the entity. */
                        identifier: unknown[];
                    } & {
                        [key: string]: unknown;
                    })[];
                };
            };
        };
    };
    postBoardsByIdImport: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "items": [
                 *         {
                 *           "url": "https://tides.example/tides"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The URLs to import. */
                    items: components["schemas"]["ImportItem"][];
                    /** @description `true`: only validate the items. Nothing is fetched or created. */
                    dry_run?: boolean;
                    /**
                     * @description How to arrange the cards of items without both `x` and `y`. Default: `justified`. Other cards get their `x` and `y`.
                     * @enum {string}
                     */
                    layout?: "justified" | "masonry" | "grid" | "row" | "column";
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *       "layout": "justified",
                     *       "dry_run": false,
                     *       "created": 1,
                     *       "existing": 0,
                     *       "failed": 0,
                     *       "results": [
                     *         {
                     *           "url": "https://tides.example/tides",
                     *           "status": "created",
                     *           "card_id": "qlpMtHfGkpWXmzMw",
                     *           "error": null,
                     *           "code": null
                     *         }
                     *       ],
                     *       "cards": [
                     *         {
                     *           "id": "qlpMtHfGkpWXmzMw",
                     *           "kind": "link",
                     *           "title": "Tides in May",
                     *           "body": null,
                     *           "html": null,
                     *           "url": "https://tides.example/tides",
                     *           "image_key": null,
                     *           "alt": null,
                     *           "color": null,
                     *           "x": 600,
                     *           "y": 0,
                     *           "w": 280,
                     *           "h": 180,
                     *           "z": 4,
                     *           "rotation": 0,
                     *           "section_header": false,
                     *           "props": null,
                     *           "identifiers": [],
                     *           "version": "jG7RjkvQxZ4Vh4_-B9-aZD",
                     *           "created_at": "2026-03-02T09:30:00.000Z",
                     *           "updated_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "live": true
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the board.
                         */
                        board_id: string;
                        /**
                         * @description How the cards are arranged.
                         * @enum {string}
                         */
                        layout: "justified" | "masonry" | "grid" | "row" | "column";
                        /** @description The `dry_run` of the request. */
                        dry_run: boolean;
                        /** @description How many cards were created. */
                        created: number;
                        /** @description How many items the board already had. */
                        existing: number;
                        /** @description How many items failed. */
                        failed: number;
                        /** @description One result for each item, in the order of the items. */
                        results: components["schemas"]["ImportResult"][];
                        /** @description The cards that were created. */
                        cards: components["schemas"]["Card"][];
                        /** @description True: open editors already show the change. False: the change is saved, but an open editor may need a reload. */
                        live: boolean;
                    };
                };
            };
        };
    };
    postUploads: {
        parameters: {
            query: {
                /**
                 * @description Id of the board that the image is for.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                board: string;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "image/jpeg": string;
                "image/png": string;
                "image/gif": string;
                "image/webp": string;
                "image/heic": string;
                "image/avif": string;
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "image_key": "fTalPerE4QtkvNd64mD0u3-Am.png",
                     *       "width": 40,
                     *       "height": 30,
                     *       "bytes": 139,
                     *       "content_type": "image/png"
                     *     }
                     */
                    "application/json": {
                        /** @description Key of the file, for `image_key` or `file_key` of a card. */
                        image_key: string;
                        /** @description Width in pixels. Null for a file that is not an image. */
                        width: number | null;
                        /** @description Height in pixels. Null for a file that is not an image. */
                        height: number | null;
                        /** @description Size in bytes. */
                        bytes: number;
                        /** @description Media type of the file, detected from its contents. */
                        content_type: string;
                    };
                };
            };
        };
    };
    postUploadsFromUrl: {
        parameters: {
            query: {
                /**
                 * @description Id of the board that the file is for.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                board: string;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://tides.example/tower.png"
                 *     }
                 */
                "application/json": {
                    /** @description An https URL on a public host. Up to 5 redirects are followed. Fetching may take 15 seconds. A web page is refused with 415: import it as a link card. */
                    url: string;
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key": "fg79_zZE-gdNfDQ6U7R7AYR6O.png",
                     *       "kind": "image",
                     *       "content_type": "image/png",
                     *       "bytes": 139,
                     *       "width": 40,
                     *       "height": 30,
                     *       "file_name": "tower.png"
                     *     }
                     */
                    "application/json": {
                        /** @description Key of the file: `image_key` of an image card, `file_key` of a video, audio, pdf or file card. */
                        key: string;
                        /**
                         * @description The kind of card that shows this file.
                         * @enum {string}
                         */
                        kind: "image" | "video" | "audio" | "pdf" | "file";
                        /** @description Media type of the file, detected from its bytes. */
                        content_type: string;
                        /** @description Size in bytes. */
                        bytes: number;
                        /** @description Width in pixels. Null when the file is not an image or its size is unknown. */
                        width: number | null;
                        /** @description Height in pixels. Null when the file is not an image or its size is unknown. */
                        height: number | null;
                        /** @description Last part of the URL’s path. */
                        file_name: string | null;
                    };
                };
            };
        };
    };
    postUploadsMultipart: {
        parameters: {
            query: {
                /**
                 * @description Id of the board that the file is for.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                board: string;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bytes": 1000,
                 *       "filename": "tower.mov",
                 *       "content_type": "video/quicktime"
                 *     }
                 */
                "application/json": {
                    /** @description Size of the whole file in bytes. */
                    bytes: number;
                    /** @description Media type of the file. Default: `application/octet-stream`. */
                    content_type?: string;
                    /** @description Name of the file. Only its extension is used. */
                    filename?: string;
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key": "f_n8QNNSmPd6RknOXMvtVOnIH.mov",
                     *       "upload_id": "VXBsb2FkIGlkIG9mIHRoZSBzdG9yZQ",
                     *       "part_size": 8388608,
                     *       "part_count": 1,
                     *       "content_type": "video/quicktime"
                     *     }
                     */
                    "application/json": {
                        /** @description Key of the file, from `POST /uploads/multipart`. */
                        key: string;
                        /** @description Id of the upload, from `POST /uploads/multipart`. */
                        upload_id: string;
                        /** @description Size in bytes of each part except the last. */
                        part_size: number;
                        /** @description How many parts to upload. */
                        part_count: number;
                        /** @description Media type of the file. */
                        content_type: string;
                    };
                };
            };
        };
    };
    postUploadsMultipartParts: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                 *       "key": "f_n8QNNSmPd6RknOXMvtVOnIH.mov",
                 *       "upload_id": "VXBsb2FkIGlkIG9mIHRoZSBzdG9yZQ",
                 *       "part_numbers": [
                 *         1
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description Id of the board.
                     */
                    board_id: string;
                    /** @description Key of the file, from `POST /uploads/multipart`. */
                    key: string;
                    /** @description Id of the upload, from `POST /uploads/multipart`. */
                    upload_id: string;
                    /** @description Numbers of the parts to upload next, from 1. */
                    part_numbers: number[];
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "urls": {
                     *         "1": "https://corkboard.example/uploads/parts?part=1&signature=…"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description The signed URLs by part number. */
                        urls: {
                            [key: string]: string;
                        };
                    };
                };
            };
        };
    };
    postUploadsMultipartComplete: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                 *       "key": "f_n8QNNSmPd6RknOXMvtVOnIH.mov",
                 *       "upload_id": "VXBsb2FkIGlkIG9mIHRoZSBzdG9yZQ",
                 *       "parts": [
                 *         {
                 *           "part_number": 1,
                 *           "etag": "\"ede3d3b685b4e137ba4cb2521329a75e\""
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description Id of the board.
                     */
                    board_id: string;
                    /** @description Key of the file, from `POST /uploads/multipart`. */
                    key: string;
                    /** @description Id of the upload, from `POST /uploads/multipart`. */
                    upload_id: string;
                    /** @description All parts of the upload. */
                    parts: {
                        /** @description Number of the part, from 1. */
                        part_number: number;
                        /** @description The `etag` in the response to the part’s PUT, with or without quotes. */
                        etag: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "image_key": "f_n8QNNSmPd6RknOXMvtVOnIH.mov",
                     *       "bytes": 1000,
                     *       "width": null,
                     *       "height": null
                     *     }
                     */
                    "application/json": {
                        /** @description Key of the file, for `image_key` or `file_key` of a card. */
                        image_key: string;
                        /** @description Size in bytes. Null when it is unknown. */
                        bytes: number | null;
                        /** @description Width in pixels. Null for a file that is not an image. */
                        width: number | null;
                        /** @description Height in pixels. Null for a file that is not an image. */
                        height: number | null;
                    };
                };
            };
        };
    };
    postUploadsMultipartAbort: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                 *       "key": "f-0IQLgqsUobJ8LoMWctbKZfU",
                 *       "upload_id": "QW5vdGhlciB1cGxvYWQgaWQ"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description Id of the board.
                     */
                    board_id: string;
                    /** @description Key of the file, from `POST /uploads/multipart`. */
                    key: string;
                    /** @description Id of the upload, from `POST /uploads/multipart`. */
                    upload_id: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "aborted": true,
                     *       "key": "f-0IQLgqsUobJ8LoMWctbKZfU",
                     *       "upload_id": "QW5vdGhlciB1cGxvYWQgaWQ"
                     *     }
                     */
                    "application/json": {
                        /** @description Always true. */
                        aborted: boolean;
                        /** @description Key of the file, from `POST /uploads/multipart`. */
                        key: string;
                        /** @description Id of the upload, from `POST /uploads/multipart`. */
                        upload_id: string;
                    };
                };
            };
        };
    };
    getImages: {
        parameters: {
            query?: {
                /** @description Only files of this workspace. */
                workspace?: string;
                /**
                 * @description Only files that were uploaded for this board.
                 * @example cb4aec88-9ac8-48d5-8812-a44cc47d1c10
                 */
                board?: string;
                /** @description Starts a change feed: lists changes at or after this time, oldest first. RFC 3339, such as `2026-01-31T09:00:00Z`. */
                since?: string;
                /** @description The `next_cursor` of the previous page. Send it with the same filters. */
                cursor?: string;
                /** @description Most entries of a page, 1 to 500. Default: 100. */
                limit?: number;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "images": [
                     *         {
                     *           "image_key": "fTalPerE4QtkvNd64mD0u3-Am.png",
                     *           "bytes": 139,
                     *           "width": 40,
                     *           "height": 30,
                     *           "board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                     *           "workspace_id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12",
                     *           "content_type": "image/png",
                     *           "created_at": "2026-03-02T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "limit": 100,
                     *       "has_more": false,
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The files of this page. */
                        images: components["schemas"]["ImageRecord"][];
                        /** @description The `limit` of this page. */
                        limit: number;
                        /** @description Whether there is another page now. */
                        has_more: boolean;
                        /** @description The `cursor` of the next page. Null when there is no next page. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getImagesByKey: {
        parameters: {
            query?: {
                /**
                 * @description Returns the image resized to at most this width in pixels. An image is never enlarged.
                 * @example 320
                 */
                w?: "160" | "320" | "640" | "960" | "1280" | "1920";
                /**
                 * @description Format of the resized image. Default: `webp`. Requires `w`.
                 * @example webp
                 */
                format?: "webp" | "avif";
                /** @description Of a signed URL: when it ends, in Unix seconds. */
                expires?: number;
                /** @description Of a signed URL: the account for which it was signed. */
                by?: string;
                /** @description Of a signed URL that a session asked for: what it ends with. */
                session?: string;
                /** @description Of a signed URL: the signature. Such a request needs no token. */
                signature?: string;
            };
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
            };
            path: {
                /**
                 * @description Key of the file.
                 * @example fTalPerE4QtkvNd64mD0u3-Am.png
                 */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, or the resized image. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description The part of the file that `Range` requests. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
        };
    };
    postImagesUrls: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "images": [
                 *         {
                 *           "image_key": "fTalPerE4QtkvNd64mD0u3-Am.png",
                 *           "w": 320
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The files, up to 500. For a `srcset`, name a file once for each width. */
                    images: {
                        /** @description Key of the file, for `image_key` or `file_key` of a card. */
                        image_key: string;
                        /**
                         * @description Width of a smaller image in pixels. Without it the URL is that of the whole file.
                         * @enum {unknown}
                         */
                        w?: 160 | 320 | 640 | 960 | 1280 | 1920;
                        /**
                         * @description Format of the smaller image. Default: `webp`.
                         * @enum {string}
                         */
                        format?: "webp" | "avif";
                    }[];
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "images": [
                     *         {
                     *           "image_key": "fTalPerE4QtkvNd64mD0u3-Am.png",
                     *           "w": 320,
                     *           "url": "https://corkboard.example/api/v1/images/fTalPerE4QtkvNd64mD0u3-Am.png?w=320&format=webp&expires=1772449200&by=3b87bfbb-7259-44e9-8b01-dc31c7c77937&signature=4vJ9uYQ2mWcT7xkN0bRzLhP3dGfAe8sVoI6wKqUyXtE"
                     *         }
                     *       ],
                     *       "not_found": [],
                     *       "expires_at": "2026-03-02T09:30:00.000Z"
                     *     }
                     */
                    "application/json": {
                        /** @description The URLs, in the order of the request, without those of `not_found`. */
                        images: {
                            /** @description Key of the file, for `image_key` or `file_key` of a card. */
                            image_key: string;
                            /** @description Null for the whole file. */
                            w: (160 | 320 | 640 | 960 | 1280 | 1920) | null;
                            /** @description The URL. Whoever has it can read the file until it ends. */
                            url: string;
                        }[];
                        /** @description Keys of files that do not exist, or that you may not see. */
                        not_found: string[];
                        /**
                         * Format: date-time
                         * @description When the URLs end.
                         */
                        expires_at: string;
                    };
                };
            };
        };
    };
    postMcp: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer. */
                Prefer?: string;
                /** @description Makes it safe to retry the request. For 24 hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to 255 characters, such as a UUID. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "jsonrpc": "2.0",
                 *       "id": 1,
                 *       "method": "ping"
                 *     }
                 */
                "application/json": ({
                    /**
                     * @description The version of JSON-RPC.
                     * @constant
                     */
                    jsonrpc: "2.0";
                } & {
                    [key: string]: unknown;
                }) | ({
                    /**
                     * @description The version of JSON-RPC.
                     * @constant
                     */
                    jsonrpc: "2.0";
                } & {
                    [key: string]: unknown;
                })[];
            };
        };
        responses: {
            /** @description The response. For a batch, an array with a response for each request. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "result": {},
                     *       "jsonrpc": "2.0",
                     *       "id": 1
                     *     }
                     */
                    "application/json": ({
                        /**
                         * @description The version of JSON-RPC.
                         * @constant
                         */
                        jsonrpc: "2.0";
                    } & {
                        [key: string]: unknown;
                    }) | ({
                        /**
                         * @description The version of JSON-RPC.
                         * @constant
                         */
                        jsonrpc: "2.0";
                    } & {
                        [key: string]: unknown;
                    })[];
                };
            };
            /** @description A notification or a response was accepted. No body. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getOpenapiJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The API description. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "openapi": "3.1.0",
                     *       "info": {
                     *         "title": "Corkboard",
                     *         "version": "1.0.0",
                     *         "description": "Realtime boards of cards. People edit a board in open editors, and programs through this API. A card that is written here appears at once on open canvases.",
                     *         "license": {
                     *           "name": "UNLICENSED",
                     *           "identifier": "LicenseRef-UNLICENSED"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    onBoardCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description `v0=<hex>`: the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, keyed with the webhook’s secret. For a day after a rotation, the key is one of the two secrets. */
                "X-Service-Signature": string;
                /** @description The same signature for each valid secret, separated by commas. For a day after a rotation there are two. */
                "X-Service-Signatures": string;
                /** @description When this attempt was signed, in Unix seconds. Refuse the delivery if this differs from your clock by more than 300 seconds. */
                "X-Service-Request-Timestamp": number;
                /** @description Name of the event, as in `type`. */
                "X-Service-Event": string;
                /** @description Id of the delivery. All its attempts have the same id: use it to process a delivery only once. */
                "X-Service-Delivery": string;
                /** @description Id of the delivery, in the header of Standard Webhooks. */
                "webhook-id": string;
                /** @description The timestamp, in the header of Standard Webhooks. */
                "webhook-timestamp": number;
                /** @description The signatures in the format of Standard Webhooks: `v1,<base64>`, separated by spaces. */
                "webhook-signature": string;
                /** @description The trace of the request that caused the event (W3C Trace Context). Missing when that request had no trace, and for changes by editors. */
                traceparent?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "board.created",
                 *       "resource": {
                 *         "type": "board",
                 *         "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *       },
                 *       "workspace": {
                 *         "id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12"
                 *       },
                 *       "board": {
                 *         "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *       },
                 *       "data": {
                 *         "name": "Lighthouse",
                 *         "parent_board_id": null,
                 *         "view": "canvas",
                 *         "changed": []
                 *       },
                 *       "occurred_at": "2026-03-02T09:30:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["BoardCreatedEvent"];
            };
        };
        responses: {
            /** @description The delivery was received. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is retried later. The same applies to all other statuses except 2xx. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onBoardUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description `v0=<hex>`: the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, keyed with the webhook’s secret. For a day after a rotation, the key is one of the two secrets. */
                "X-Service-Signature": string;
                /** @description The same signature for each valid secret, separated by commas. For a day after a rotation there are two. */
                "X-Service-Signatures": string;
                /** @description When this attempt was signed, in Unix seconds. Refuse the delivery if this differs from your clock by more than 300 seconds. */
                "X-Service-Request-Timestamp": number;
                /** @description Name of the event, as in `type`. */
                "X-Service-Event": string;
                /** @description Id of the delivery. All its attempts have the same id: use it to process a delivery only once. */
                "X-Service-Delivery": string;
                /** @description Id of the delivery, in the header of Standard Webhooks. */
                "webhook-id": string;
                /** @description The timestamp, in the header of Standard Webhooks. */
                "webhook-timestamp": number;
                /** @description The signatures in the format of Standard Webhooks: `v1,<base64>`, separated by spaces. */
                "webhook-signature": string;
                /** @description The trace of the request that caused the event (W3C Trace Context). Missing when that request had no trace, and for changes by editors. */
                traceparent?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "board.updated",
                 *       "resource": {
                 *         "type": "board",
                 *         "id": "327fbcaf-c916-4187-81dd-45414a6137ea"
                 *       },
                 *       "workspace": {
                 *         "id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12"
                 *       },
                 *       "board": {
                 *         "id": "327fbcaf-c916-4187-81dd-45414a6137ea"
                 *       },
                 *       "data": {
                 *         "name": "Harbour at dusk",
                 *         "parent_board_id": null,
                 *         "view": "canvas",
                 *         "changed": [
                 *           "name"
                 *         ]
                 *       },
                 *       "occurred_at": "2026-03-02T09:30:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["BoardUpdatedEvent"];
            };
        };
        responses: {
            /** @description The delivery was received. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is retried later. The same applies to all other statuses except 2xx. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onBoardDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description `v0=<hex>`: the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, keyed with the webhook’s secret. For a day after a rotation, the key is one of the two secrets. */
                "X-Service-Signature": string;
                /** @description The same signature for each valid secret, separated by commas. For a day after a rotation there are two. */
                "X-Service-Signatures": string;
                /** @description When this attempt was signed, in Unix seconds. Refuse the delivery if this differs from your clock by more than 300 seconds. */
                "X-Service-Request-Timestamp": number;
                /** @description Name of the event, as in `type`. */
                "X-Service-Event": string;
                /** @description Id of the delivery. All its attempts have the same id: use it to process a delivery only once. */
                "X-Service-Delivery": string;
                /** @description Id of the delivery, in the header of Standard Webhooks. */
                "webhook-id": string;
                /** @description The timestamp, in the header of Standard Webhooks. */
                "webhook-timestamp": number;
                /** @description The signatures in the format of Standard Webhooks: `v1,<base64>`, separated by spaces. */
                "webhook-signature": string;
                /** @description The trace of the request that caused the event (W3C Trace Context). Missing when that request had no trace, and for changes by editors. */
                traceparent?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "board.deleted",
                 *       "resource": {
                 *         "type": "board",
                 *         "id": "327fbcaf-c916-4187-81dd-45414a6137ea"
                 *       },
                 *       "workspace": {
                 *         "id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12"
                 *       },
                 *       "board": {
                 *         "id": "327fbcaf-c916-4187-81dd-45414a6137ea"
                 *       },
                 *       "data": {
                 *         "name": "Harbour at dusk",
                 *         "parent_board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                 *         "view": "canvas",
                 *         "changed": [
                 *           "deleted"
                 *         ]
                 *       },
                 *       "occurred_at": "2026-03-02T09:30:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["BoardDeletedEvent"];
            };
        };
        responses: {
            /** @description The delivery was received. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is retried later. The same applies to all other statuses except 2xx. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onBoardRestored: {
        parameters: {
            query?: never;
            header: {
                /** @description `v0=<hex>`: the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, keyed with the webhook’s secret. For a day after a rotation, the key is one of the two secrets. */
                "X-Service-Signature": string;
                /** @description The same signature for each valid secret, separated by commas. For a day after a rotation there are two. */
                "X-Service-Signatures": string;
                /** @description When this attempt was signed, in Unix seconds. Refuse the delivery if this differs from your clock by more than 300 seconds. */
                "X-Service-Request-Timestamp": number;
                /** @description Name of the event, as in `type`. */
                "X-Service-Event": string;
                /** @description Id of the delivery. All its attempts have the same id: use it to process a delivery only once. */
                "X-Service-Delivery": string;
                /** @description Id of the delivery, in the header of Standard Webhooks. */
                "webhook-id": string;
                /** @description The timestamp, in the header of Standard Webhooks. */
                "webhook-timestamp": number;
                /** @description The signatures in the format of Standard Webhooks: `v1,<base64>`, separated by spaces. */
                "webhook-signature": string;
                /** @description The trace of the request that caused the event (W3C Trace Context). Missing when that request had no trace, and for changes by editors. */
                traceparent?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "board.restored",
                 *       "resource": {
                 *         "type": "board",
                 *         "id": "327fbcaf-c916-4187-81dd-45414a6137ea"
                 *       },
                 *       "workspace": {
                 *         "id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12"
                 *       },
                 *       "board": {
                 *         "id": "327fbcaf-c916-4187-81dd-45414a6137ea"
                 *       },
                 *       "data": {
                 *         "name": "Harbour at dusk",
                 *         "parent_board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10",
                 *         "view": "canvas",
                 *         "changed": [
                 *           "deleted"
                 *         ]
                 *       },
                 *       "occurred_at": "2026-03-02T09:30:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["BoardRestoredEvent"];
            };
        };
        responses: {
            /** @description The delivery was received. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is retried later. The same applies to all other statuses except 2xx. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCardCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description `v0=<hex>`: the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, keyed with the webhook’s secret. For a day after a rotation, the key is one of the two secrets. */
                "X-Service-Signature": string;
                /** @description The same signature for each valid secret, separated by commas. For a day after a rotation there are two. */
                "X-Service-Signatures": string;
                /** @description When this attempt was signed, in Unix seconds. Refuse the delivery if this differs from your clock by more than 300 seconds. */
                "X-Service-Request-Timestamp": number;
                /** @description Name of the event, as in `type`. */
                "X-Service-Event": string;
                /** @description Id of the delivery. All its attempts have the same id: use it to process a delivery only once. */
                "X-Service-Delivery": string;
                /** @description Id of the delivery, in the header of Standard Webhooks. */
                "webhook-id": string;
                /** @description The timestamp, in the header of Standard Webhooks. */
                "webhook-timestamp": number;
                /** @description The signatures in the format of Standard Webhooks: `v1,<base64>`, separated by spaces. */
                "webhook-signature": string;
                /** @description The trace of the request that caused the event (W3C Trace Context). Missing when that request had no trace, and for changes by editors. */
                traceparent?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "card.created",
                 *       "resource": {
                 *         "type": "board",
                 *         "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *       },
                 *       "workspace": {
                 *         "id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12"
                 *       },
                 *       "board": {
                 *         "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *       },
                 *       "data": {
                 *         "count": 1,
                 *         "card_ids": [
                 *           "tllbZBuQ2PDVzQCr"
                 *         ]
                 *       },
                 *       "occurred_at": "2026-03-02T09:30:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["CardCreatedEvent"];
            };
        };
        responses: {
            /** @description The delivery was received. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is retried later. The same applies to all other statuses except 2xx. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCardUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description `v0=<hex>`: the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, keyed with the webhook’s secret. For a day after a rotation, the key is one of the two secrets. */
                "X-Service-Signature": string;
                /** @description The same signature for each valid secret, separated by commas. For a day after a rotation there are two. */
                "X-Service-Signatures": string;
                /** @description When this attempt was signed, in Unix seconds. Refuse the delivery if this differs from your clock by more than 300 seconds. */
                "X-Service-Request-Timestamp": number;
                /** @description Name of the event, as in `type`. */
                "X-Service-Event": string;
                /** @description Id of the delivery. All its attempts have the same id: use it to process a delivery only once. */
                "X-Service-Delivery": string;
                /** @description Id of the delivery, in the header of Standard Webhooks. */
                "webhook-id": string;
                /** @description The timestamp, in the header of Standard Webhooks. */
                "webhook-timestamp": number;
                /** @description The signatures in the format of Standard Webhooks: `v1,<base64>`, separated by spaces. */
                "webhook-signature": string;
                /** @description The trace of the request that caused the event (W3C Trace Context). Missing when that request had no trace, and for changes by editors. */
                traceparent?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "card.updated",
                 *       "resource": {
                 *         "type": "board",
                 *         "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *       },
                 *       "workspace": {
                 *         "id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12"
                 *       },
                 *       "board": {
                 *         "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *       },
                 *       "data": {
                 *         "count": 1,
                 *         "card_ids": [
                 *           "tllbZBuQ2PDVzQCr"
                 *         ]
                 *       },
                 *       "occurred_at": "2026-03-02T09:30:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["CardUpdatedEvent"];
            };
        };
        responses: {
            /** @description The delivery was received. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is retried later. The same applies to all other statuses except 2xx. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCardDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description `v0=<hex>`: the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, keyed with the webhook’s secret. For a day after a rotation, the key is one of the two secrets. */
                "X-Service-Signature": string;
                /** @description The same signature for each valid secret, separated by commas. For a day after a rotation there are two. */
                "X-Service-Signatures": string;
                /** @description When this attempt was signed, in Unix seconds. Refuse the delivery if this differs from your clock by more than 300 seconds. */
                "X-Service-Request-Timestamp": number;
                /** @description Name of the event, as in `type`. */
                "X-Service-Event": string;
                /** @description Id of the delivery. All its attempts have the same id: use it to process a delivery only once. */
                "X-Service-Delivery": string;
                /** @description Id of the delivery, in the header of Standard Webhooks. */
                "webhook-id": string;
                /** @description The timestamp, in the header of Standard Webhooks. */
                "webhook-timestamp": number;
                /** @description The signatures in the format of Standard Webhooks: `v1,<base64>`, separated by spaces. */
                "webhook-signature": string;
                /** @description The trace of the request that caused the event (W3C Trace Context). Missing when that request had no trace, and for changes by editors. */
                traceparent?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "card.deleted",
                 *       "resource": {
                 *         "type": "board",
                 *         "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *       },
                 *       "workspace": {
                 *         "id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12"
                 *       },
                 *       "board": {
                 *         "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *       },
                 *       "data": {
                 *         "count": 1,
                 *         "card_ids": [
                 *           "tllbZBuQ2PDVzQCr"
                 *         ]
                 *       },
                 *       "occurred_at": "2026-03-02T09:30:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["CardDeletedEvent"];
            };
        };
        responses: {
            /** @description The delivery was received. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is retried later. The same applies to all other statuses except 2xx. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCardMoved: {
        parameters: {
            query?: never;
            header: {
                /** @description `v0=<hex>`: the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, keyed with the webhook’s secret. For a day after a rotation, the key is one of the two secrets. */
                "X-Service-Signature": string;
                /** @description The same signature for each valid secret, separated by commas. For a day after a rotation there are two. */
                "X-Service-Signatures": string;
                /** @description When this attempt was signed, in Unix seconds. Refuse the delivery if this differs from your clock by more than 300 seconds. */
                "X-Service-Request-Timestamp": number;
                /** @description Name of the event, as in `type`. */
                "X-Service-Event": string;
                /** @description Id of the delivery. All its attempts have the same id: use it to process a delivery only once. */
                "X-Service-Delivery": string;
                /** @description Id of the delivery, in the header of Standard Webhooks. */
                "webhook-id": string;
                /** @description The timestamp, in the header of Standard Webhooks. */
                "webhook-timestamp": number;
                /** @description The signatures in the format of Standard Webhooks: `v1,<base64>`, separated by spaces. */
                "webhook-signature": string;
                /** @description The trace of the request that caused the event (W3C Trace Context). Missing when that request had no trace, and for changes by editors. */
                traceparent?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "card.moved",
                 *       "resource": {
                 *         "type": "board",
                 *         "id": "327fbcaf-c916-4187-81dd-45414a6137ea"
                 *       },
                 *       "workspace": {
                 *         "id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12"
                 *       },
                 *       "board": {
                 *         "id": "327fbcaf-c916-4187-81dd-45414a6137ea"
                 *       },
                 *       "data": {
                 *         "count": 1,
                 *         "card_ids": [
                 *           "NUdzWiJ6-UuaYnyk"
                 *         ],
                 *         "from_board_id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *       },
                 *       "occurred_at": "2026-03-02T09:30:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["CardMovedEvent"];
            };
        };
        responses: {
            /** @description The delivery was received. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is retried later. The same applies to all other statuses except 2xx. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onImageCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description `v0=<hex>`: the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, keyed with the webhook’s secret. For a day after a rotation, the key is one of the two secrets. */
                "X-Service-Signature": string;
                /** @description The same signature for each valid secret, separated by commas. For a day after a rotation there are two. */
                "X-Service-Signatures": string;
                /** @description When this attempt was signed, in Unix seconds. Refuse the delivery if this differs from your clock by more than 300 seconds. */
                "X-Service-Request-Timestamp": number;
                /** @description Name of the event, as in `type`. */
                "X-Service-Event": string;
                /** @description Id of the delivery. All its attempts have the same id: use it to process a delivery only once. */
                "X-Service-Delivery": string;
                /** @description Id of the delivery, in the header of Standard Webhooks. */
                "webhook-id": string;
                /** @description The timestamp, in the header of Standard Webhooks. */
                "webhook-timestamp": number;
                /** @description The signatures in the format of Standard Webhooks: `v1,<base64>`, separated by spaces. */
                "webhook-signature": string;
                /** @description The trace of the request that caused the event (W3C Trace Context). Missing when that request had no trace, and for changes by editors. */
                traceparent?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "image.created",
                 *       "resource": {
                 *         "type": "image",
                 *         "id": "fTalPerE4QtkvNd64mD0u3-Am.png"
                 *       },
                 *       "workspace": {
                 *         "id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12"
                 *       },
                 *       "board": {
                 *         "id": "cb4aec88-9ac8-48d5-8812-a44cc47d1c10"
                 *       },
                 *       "data": {
                 *         "bytes": 139,
                 *         "width": 40,
                 *         "height": 30,
                 *         "content_type": "image/png"
                 *       },
                 *       "occurred_at": "2026-03-02T09:30:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["ImageCreatedEvent"];
            };
        };
        responses: {
            /** @description The delivery was received. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is retried later. The same applies to all other statuses except 2xx. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onWebhookTest: {
        parameters: {
            query?: never;
            header: {
                /** @description `v0=<hex>`: the HMAC-SHA256 of `v0:<timestamp>:<raw body>`, keyed with the webhook’s secret. For a day after a rotation, the key is one of the two secrets. */
                "X-Service-Signature": string;
                /** @description The same signature for each valid secret, separated by commas. For a day after a rotation there are two. */
                "X-Service-Signatures": string;
                /** @description When this attempt was signed, in Unix seconds. Refuse the delivery if this differs from your clock by more than 300 seconds. */
                "X-Service-Request-Timestamp": number;
                /** @description Name of the event, as in `type`. */
                "X-Service-Event": string;
                /** @description Id of the delivery. All its attempts have the same id: use it to process a delivery only once. */
                "X-Service-Delivery": string;
                /** @description Id of the delivery, in the header of Standard Webhooks. */
                "webhook-id": string;
                /** @description The timestamp, in the header of Standard Webhooks. */
                "webhook-timestamp": number;
                /** @description The signatures in the format of Standard Webhooks: `v1,<base64>`, separated by spaces. */
                "webhook-signature": string;
                /** @description The trace of the request that caused the event (W3C Trace Context). Missing when that request had no trace, and for changes by editors. */
                traceparent?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "webhook.test",
                 *       "resource": {
                 *         "type": "webhook",
                 *         "id": "b59d0bfd-c132-4602-8725-20b39bb9e99c"
                 *       },
                 *       "workspace": {
                 *         "id": "cd3d4eb4-85fd-495f-87e5-62af6c692c12"
                 *       },
                 *       "board": null,
                 *       "data": {},
                 *       "occurred_at": "2026-03-02T09:30:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["WebhookTestEvent"];
            };
        };
        responses: {
            /** @description The delivery was received. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery failed and is retried later. The same applies to all other statuses except 2xx. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
