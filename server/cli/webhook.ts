import { Option, type Command } from 'commander'
import { requireRoomForActive } from '../../api/webhooks/webhook.ts'
import { AccountError } from '../../sql/accounts/accounts.ts'
import type { Transaction } from '../../sql/database.ts'
import { showCommand } from './command.ts'
import { asService } from './database.ts'
import { idOption, parseId, someId } from './options.ts'

/** What the webhook's owner reads in `disabled_reason`. */
const reason = 'The operator of the service switched this webhook off.'

export function webhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('webhooks')
  showCommand(webhook, {
    name: 'list',
    description:
      'Lists webhooks with their state and the number of deliveries that wait:\n{"webhooks":[{"webhook_id","url","active",…}]}',
    options: [
      new Option('--workspace <workspace-id>', 'only the webhooks of this workspace').argParser(parseId),
    ],
    examples: ['webhook list', `webhook list --workspace ${someId} --json`],
    run: async ({ workspace = null }: { workspace?: string | null }) => ({
      webhooks: await asService((tx) => readWebhooks(tx, { workspace })),
    }),
  })
  switchCommand(
    webhook,
    'enable',
    true,
    'Switches a webhook on. Deliveries that are due from now on are sent',
  )
  switchCommand(
    webhook,
    'disable',
    false,
    'Switches a webhook off. Deliveries that are due meanwhile are given up',
  )
}

function switchCommand(webhook: Command, name: string, active: boolean, description: string): void {
  showCommand(webhook, {
    name,
    description: `${description}.`,
    options: [idOption('--id <webhook-id>', 'id of the webhook, from `webhook list`')],
    examples: [`webhook ${name} --id ${someId}`],
    run: ({ id }: { id: string }) =>
      asService(async (tx) => {
        const [webhook] = await readWebhooks(tx, { id })
        if (!webhook)
          throw new AccountError(`There is no webhook ${id}. \`webhook list\` shows all with their ids.`)
        if (active && !webhook['active']) await requireRoomForActive(tx, webhook['workspace_id'] as string)
        await tx`
          update webhooks set active = ${active}, disabled_reason = ${active ? null : reason}
          where id = ${id} and active <> ${active}`
        const [changed] = await readWebhooks(tx, { id })
        return { ...changed }
      }),
  })
}

const readWebhooks = (
  tx: Transaction,
  { workspace = null, id = null }: { workspace?: string | null; id?: string | null },
) => tx`
  select h.id as webhook_id, h.workspace_id, w.name as workspace, h.url, h.events, h.active, h.failures, h.disabled_reason,
    (select count(*)::integer from webhook_deliveries d where d.webhook_id = h.id and d.status = 'waiting') as waiting
  from webhooks h
  join workspaces w on w.id = h.workspace_id
  where (${workspace}::uuid is null or h.workspace_id = ${workspace}) and (${id}::uuid is null or h.id = ${id})
  order by w.name, h.created_at, h.id`
