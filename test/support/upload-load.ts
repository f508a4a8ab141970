/** Sends many concurrent uploads, and measures the memory of the service. */
import { execFile } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { until } from './editor.ts'

export interface UploadLoad {
  url: string
  /** Process id of the service. */
  pid: number
  token: string
  boardId: string
  count: number
  bytes: Buffer
}

/** Returns the resident memory of a process, in bytes. */
export async function residentBytes(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])
  return Number(stdout) * 1024
}

/** Sends uploads. All of them send their first half before any sends its second. Throws unless all answers are 201. */
export async function uploadAllAtOnce(load: UploadLoad): Promise<{ idle: number; peak: number }> {
  const idle = await residentBytes(load.pid)
  let peak = idle
  const over = new AbortController()
  const watching = (async () => {
    while (!over.signal.aborted) {
      peak = Math.max(peak, await residentBytes(load.pid))
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  try {
    const sending = Array.from({ length: load.count }, () => begin(load))
    await Promise.all(sending.map(({ socket }) => write(socket, load.bytes.subarray(0, half(load)))))
    const held = load.count * load.bytes.length
    await until(async () => (await used(load)) >= held, 'all are under way', 120_000)
    const answers = await Promise.all(
      sending.map(async ({ socket, answer }) => {
        await write(socket, load.bytes.subarray(half(load)))
        return answer
      }),
    )
    const wrong = answers.find((line) => !line.includes(' 201 '))
    if (wrong !== undefined) throw new Error(`an upload was answered ${JSON.stringify(wrong)}`)
  } finally {
    over.abort()
    await watching
  }
  return { idle, peak }
}

const half = ({ bytes }: UploadLoad) => Math.floor(bytes.length / 2)

function begin({ url, token, boardId, bytes }: UploadLoad): { socket: Socket; answer: Promise<string> } {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const answer = new Promise<string>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the connection was closed')))
    socket.once('data', (data) => {
      resolve(String(data).split('\r\n', 1)[0]!)
      socket.destroy()
    })
  })
  answer.catch(() => undefined)
  socket.write(
    `POST /api/v1/uploads?board=${boardId} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: image/png\r\ncontent-length: ${bytes.length}\r\n\r\n`,
  )
  return { socket, answer }
}

/** Resolves when the data is sent. */
const write = (socket: Socket, bytes: Buffer) =>
  new Promise<void>((resolve, reject) => socket.write(bytes, (error) => (error ? reject(error) : resolve())))

async function used({ url, token }: UploadLoad): Promise<number> {
  const response = await fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })
  const { storage } = (await response.json()) as { storage: { used: number } }
  return storage.used
}
