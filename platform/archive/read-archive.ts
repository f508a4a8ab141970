/** Reads an archive (write-archive.ts) from its beginning to its end, and checks each sum. */
import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import { extract } from 'tar-stream'
import { ArchiveError } from './archive-error.ts'
import type { ArchiveEnd } from './write-archive.ts'

export interface ArchivePart {
  name: string
  bytes: number
  /** What the consumer leaves unread is skipped. */
  body: AsyncIterable<Buffer>
}

/**
 * Yields the parts in their order. A part's sum is checked some parts later, so take nothing for good before the end.
 *
 * @param read called with the number of bytes that were read from the file
 * @throws ArchiveError when the file does not exist, is no archive, or is damaged or incomplete. So do the bodies
 */
export async function* readArchive(
  path: string,
  read: (bytes: number) => void = () => undefined,
): AsyncGenerator<ArchivePart, void> {
  const file = createReadStream(path, { highWaterMark: 256 * 1024 })
  file.on('data', (chunk) => read(chunk.length))
  const tar = extract()
  const fed = pipeline(file, createZstdDecompress(), tar)
  fed.catch(() => undefined) // `tar` fails with the same error
  const sums = new Sums()
  try {
    for await (const entry of tar) {
      const { name, size = 0 } = entry.header
      if (sums.isOver) throw new Error('there is something after its end')
      if (name.startsWith('sums/')) sums.compare(await text(entry))
      else if (name === 'end.json') sums.end(await text(entry))
      else {
        const hash = createHash('sha256')
        const body = summed(entry, hash, path)
        yield { name, bytes: size, body }
        for await (const _ of body);
        sums.add(name, hash.digest('hex'))
      }
    }
    await fed
    if (!sums.isOver) throw new Error('its end is missing')
  } catch (error) {
    throw describe(path, error)
  } finally {
    file.destroy()
    tar.destroy()
  }
}

async function* summed(entry: AsyncIterable<Buffer>, hash: Hash, path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of entry) {
      hash.update(chunk)
      yield chunk
    }
  } catch (error) {
    throw describe(path, error)
  }
}

/** Compares the sums of parts with the lists in the archive. */
class Sums {
  isOver = false
  #waiting = ''
  #parts = 0
  readonly #all = createHash('sha256')

  add(name: string, sha256: string): void {
    this.#parts += 1
    this.#waiting += `${sha256}  ${name}\n`
  }

  compare(list: string): void {
    const [found, listed] = [this.#waiting, list].map((lines) => lines.split('\n'))
    const at = found!.findIndex((line, index) => line !== listed![index])
    if (list !== this.#waiting)
      throw new Error(`${found![at]?.slice(66) || 'a part'} differs from its checksum`)
    this.#all.update(list)
    this.#waiting = ''
  }

  end(json: string): void {
    const { parts, sha256 } = JSON.parse(json) as ArchiveEnd
    if (this.#waiting !== '' || parts !== this.#parts || sha256 !== this.#all.digest('hex'))
      throw new Error('parts of it are missing')
    this.isOver = true
  }
}

function describe(path: string, error: unknown): ArchiveError {
  if (error instanceof ArchiveError) return error
  const { code, message } = error as NodeJS.ErrnoException
  const line =
    code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR'
      ? `The archive ${path} can't be read: ${message}. Give the path of a file that \`corkboard backup\` made.`
      : `The archive ${path} is damaged or incomplete: ${message}. Use another copy of it. Nothing was changed.`
  return new ArchiveError(line, { cause: error })
}
