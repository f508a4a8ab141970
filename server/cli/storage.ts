import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { showCommand } from './command.ts'
import { asService } from './database.ts'

export function storageCommands(program: Command): void {
  const storage = program.command('storage').description('bytes of files and documents')
  showCommand(storage, {
    name: 'usage',
    description:
      'Shows what the workspaces of each account take, and its quotas, the largest first:\n{"accounts":[{"user_id","email","tier","files","documents"}]}',
    examples: ['storage usage', 'storage usage --json'],
    async run() {
      const { storageBytes, documentBytes } = readConfig(process.env)
      const rows = await asService(
        (tx) => tx<
          {
            user_id: string
            email: string
            tier: 'free' | 'pro'
            files: number
            uploads: number
            documents: number
          }[]
        >`
          select u.id as user_id, u.email, u.tier, coalesce(sum(s.stored), 0)::bigint as files,
            coalesce(sum(s.reserved), 0)::bigint as uploads, coalesce(sum(d.bytes), 0)::bigint as documents
          from users u
          join workspaces w on w.owner_id = u.id
          left join storage_usage s on s.workspace_id = w.id
          left join (
            select workspace_id, sum(bytes) as bytes from document_sizes group by workspace_id
          ) d on d.workspace_id = w.id
          group by u.id
          order by coalesce(sum(s.stored), 0) + coalesce(sum(d.bytes), 0) desc, u.email`,
      )
      return {
        accounts: rows.map(({ files, uploads, documents, ...account }) => ({
          ...account,
          files: { bytes: files, reserved_bytes: uploads, quota_bytes: storageBytes[account.tier] },
          documents: { bytes: documents, quota_bytes: documentBytes[account.tier] },
        })),
      }
    },
  })
}
