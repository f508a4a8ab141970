import { ApiClient } from './api.ts'
import { Latencies } from './latencies.ts'
import type { AlternateJob, Jobs, RequestsJob, Throughput } from './jobs.ts'
import { MeasuredWindow } from './window.ts'

/** Every connection sends a request, waits for its answer, and sends the next. */
export async function requests(job: RequestsJob): Promise<Throughput> {
  const client = new ApiClient(job.api, job.connections)
  try {
    return await ('count' in job.until
      ? sendCount(client, job, job.until.count)
      : sendWhile(client, job, job.until.seconds))
  } finally {
    await client.close()
  }
}

async function sendWhile(client: ApiClient, job: RequestsJob, seconds: number): Promise<Throughput> {
  const window = new MeasuredWindow(seconds)
  let sent = 0
  const loop = async () => {
    let sentMs: number
    do {
      const turn = sent++
      sentMs = performance.now()
      await client.send(job.requests[turn % job.requests.length]!, turn)
    } while (window.done(sentMs, performance.now()))
  }
  try {
    await Promise.race([Promise.all(Array.from({ length: job.connections }, loop)), window.stalled])
    return window.result()
  } finally {
    window.close()
  }
}

async function sendCount(client: ApiClient, job: RequestsJob, count: number): Promise<Throughput> {
  const latencies = new Latencies()
  const startMs = performance.now()
  const cpuAtStart = process.cpuUsage()
  let sent = 0
  const loop = async () => {
    while (sent < count) {
      const turn = sent++
      const sentMs = performance.now()
      await client.send(job.requests[turn % job.requests.length]!, turn)
      latencies.record(performance.now() - sentMs)
    }
  }
  await Promise.all(Array.from({ length: job.connections }, loop))
  const elapsedMs = performance.now() - startMs
  const cpu = process.cpuUsage(cpuAtStart)
  return {
    perSecond: (count / elapsedMs) * 1_000,
    p50Ms: latencies.percentile(0.5),
    p99Ms: latencies.percentile(0.99),
    loadBusy: (cpu.user + cpu.system) / 1_000 / elapsedMs,
  }
}

/** Sends both requests in turn, so that other work on the machine slows both equally. The first tenth is warm-up. */
export async function alternate(job: AlternateJob): Promise<Jobs['alternate']['result']> {
  const client = new ApiClient(job.api, 1)
  const first = new Latencies()
  const second = new Latencies()
  const warmUp = Math.ceil(job.count / 10)
  try {
    for (let turn = -warmUp; turn < job.count; turn++) {
      const startMs = performance.now()
      await client.send(job.first, turn + warmUp)
      const betweenMs = performance.now()
      await client.send(job.second, turn + warmUp)
      if (turn < 0) continue
      first.record(betweenMs - startMs)
      second.record(performance.now() - betweenMs)
    }
  } finally {
    await client.close()
  }
  return { firstP50Ms: first.percentile(0.5), secondP50Ms: second.percentile(0.5) }
}
