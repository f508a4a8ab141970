/**
 * The metrics of one service in Prometheus' text format. Each service has a registry of its own, because several may run
 * in one process. It uses prom-client, which the Prometheus project maintains (prometheus/client_js).
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

/** The value of a figure. By label value, if the figure has a label. Null: unknown, and left out. */
export type Reading = number | null | Record<string, number>

/** A metric whose value is read at each scrape. */
export interface Figure {
  type: 'gauge' | 'counter'
  name: string
  help: string
  /** The name of its label. */
  label?: string
  /** Must be cheap, however many boards are open. */
  read(): Reading | Promise<Reading>
}

/**
 * Default metrics that are left out, because each scrape would count the sockets one by one. `corkboard_sockets` tells
 * their number.
 */
const costly = [
  'nodejs_active_resources',
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'process_open_fds',
]

export class MetricsRegistry {
  readonly #registry = new Registry()

  get contentType(): string {
    return this.#registry.contentType
  }

  counter<Label extends string>(name: string, help: string, labelNames: Label[] = []): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  /** @param buckets upper bounds, in the unit of the metric */
  histogram<Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: Label[] = [],
  ): Histogram<Label> {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.#registry] })
  }

  figure({ type, name, help, label, read }: Figure): void {
    const labelNames = label === undefined ? [] : [label]
    const common = { name, help, labelNames, registers: [this.#registry] }
    const metric: Counter | Gauge =
      type === 'counter' ? new Counter({ ...common, collect }) : new Gauge({ ...common, collect })

    async function collect(): Promise<void> {
      const reading = await read()
      metric.reset()
      if (reading === null) metric.remove()
      else if (typeof reading === 'number') metric.inc(reading)
      else for (const [value, figure] of Object.entries(reading)) metric.inc({ [label!]: value }, figure)
    }
  }

  /** Adds metrics of the process: CPU, memory, garbage collection, lag of the event loop. */
  addProcess(): void {
    collectDefaultMetrics({ register: this.#registry })
    for (const name of costly) this.#registry.removeSingleMetric(name)
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }
}
