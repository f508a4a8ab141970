/** Brings files and links onto a board. It is loaded with the first of them. */
import type { OpenBoard } from '../../client/editor/index.ts'
import { readAccountId } from '../service/api.ts'
import { readText, type Gift } from './gift.ts'
import { Imports } from './imports.ts'
import { newJobId, type Job, type Jobs } from './jobs.ts'
import { KeptUploads } from './kept.ts'
import { mostText, noteSize } from './note-size.ts'
import { sideBySide, type Place } from './side-by-side.ts'
import { targetOf, type Target } from './target.ts'
import { Uploads } from './uploads.ts'

export interface Carrier {
  /** @param at the middle of the first card */
  carry(gift: Gift, at: Place): void
  retry(job: Job): void
  /** Gives up an upload, or closes what is told of something. */
  dismiss(job: Job): void
  addPlain(job: Job): void
  close(): void
}

export function openCarrier(board: OpenBoard, boardId: string, jobs: Jobs): Carrier {
  const target = targetOf(board, boardId)
  const uploads = new Uploads(target, jobs, new KeptUploads(readAccountId()))
  const imports = new Imports(target, jobs)
  void uploads.resume()
  return {
    carry({ files, folders, text }, at) {
      for (const name of folders) jobs.add({ is: 'note', id: newJobId(), name, ...folderRefused })
      if (files.length > 0) return void uploads.add(files, at)
      if (folders.length > 0) return
      const read = readText(text)
      if (read.is === 'links') void imports.add(read.urls, at)
      else if (read.text !== '') addNote(target, jobs, read.text, at)
    },
    retry(job) {
      if (job.is === 'import') void imports.retry(job.id)
      else uploads.retry(job.id)
    },
    dismiss(job) {
      if (job.is === 'upload') uploads.cancel(job.id)
      else imports.close(job.id)
    },
    addPlain: (job) => imports.addPlain(job.id),
    close() {
      uploads.close()
      imports.closeAll()
    },
  }
}

const folderRefused = {
  state: 'failed',
  says: 'This is a folder. Open it, and drop the files that are in it.',
} as const

function addNote(target: Target, jobs: Jobs, text: string, at: Place): void {
  const [frame] = sideBySide([noteSize(text)], at)
  if (text.length > mostText)
    jobs.add({ is: 'note', id: newJobId(), name: 'Pasted text', says: tooLong, state: 'failed' })
  else target.add({ kind: 'note', body: text.replace(/\r\n?/g, '\n'), ...frame })
}

const tooLong = `A card holds ${mostText.toLocaleString('en')} characters. Paste the text in parts, or save it as a file and drop that.`
