/** Reads metrics as Prometheus does. */
import { expect } from 'vitest'

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

export class Scrape {
  readonly text: string
  /** Types of the metrics, by name. */
  readonly types: Map<string, string>
  readonly samples: Sample[]

  constructor(text: string) {
    this.text = text
    this.types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]))
    this.samples = [...text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/gm)].map(
      ([, name, labels = '', value]) => ({
        name: name!,
        labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, of]) => [key, of])),
        value: Number(value),
      }),
    )
  }

  /** Names of samples: a histogram has three. */
  get names(): string[] {
    return [...this.types].flatMap(([name, type]) =>
      type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    )
  }

  /** Returns the sum of the samples with these labels. Counts the observations of a histogram. Null: no sample matches. */
  value(metric: string, labels: Record<string, string> = {}): number | null {
    const name = this.types.get(metric) === 'histogram' ? `${metric}_count` : metric
    const found = this.samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
    return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0)
  }
}

export async function scrape(url: string, token?: string): Promise<Scrape> {
  const answer = await fetch(`${url}/metrics`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  return new Scrape(await answer.text())
}
