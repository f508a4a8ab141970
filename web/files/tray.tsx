/** Tells of uploads and imports: how far they are, what was refused and why, and what one can do. */
import { useSyncExternalStore, type ReactNode } from 'react'
import type { Carrier } from './carrier.ts'
import { sizeText } from './size-text.ts'
import type { ImportJob, Job, Jobs, UploadJob } from './jobs.ts'

interface TrayProps {
  jobs: Jobs
  carrier: Carrier | null
  /** Shows cards on the canvas. Null where there is no canvas. */
  show: ((ids: readonly string[]) => void) | null
}

export function Tray({ jobs: { subscribe, get, remove }, carrier, show }: TrayProps): ReactNode {
  const jobs = useSyncExternalStore(subscribe, get)
  if (jobs.length === 0) return null
  return (
    <section className="tray" aria-label="Uploads and imports">
      <p className="hidden" role="status">
        {summaryOf(jobs)}
      </p>
      <ul>
        {jobs.map((job) => (
          <li key={job.id} className={job.state}>
            <div className="line">
              <strong>{job.name}</strong>
              <button
                type="button"
                className="plain"
                onClick={() => (carrier ? carrier.dismiss(job) : remove(job.id))}
              >
                {isUnderWay(job) ? 'Cancel' : 'Close'}
                <span className="hidden"> {job.name}</span>
              </button>
            </div>
            {job.is === 'upload' && <Progress job={job} />}
            {job.says !== null && <p>{job.says}</p>}
            {carrier && job.is === 'upload' && job.canRetry && job.state === 'failed' && (
              <button type="button" onClick={() => carrier.retry(job)}>
                Try again
              </button>
            )}
            {carrier && job.is === 'import' && <Results job={job} carrier={carrier} show={show} />}
          </li>
        ))}
      </ul>
    </section>
  )
}

const isUnderWay = ({ is, state }: Job) => is === 'upload' && (state === 'running' || state === 'paused')

function summaryOf(jobs: readonly Job[]): string {
  const running = jobs.filter(({ state }) => state === 'running').length
  const failed = jobs.filter(({ state }) => state === 'failed').length
  return `${running} in progress, ${failed} failed`
}

function Progress({ job: { name, bytes, sentBytes, state } }: { job: UploadJob }): ReactNode {
  if (state === 'failed') return null
  // A file that goes in one request has no steps.
  const value = sentBytes > 0 ? { value: sentBytes, max: bytes } : {}
  return (
    <>
      <progress {...value} aria-label={`Upload of ${name}`} />
      <p>
        {sentBytes > 0 ? `${sizeText(sentBytes)} of ` : ''}
        {sizeText(bytes)}
      </p>
    </>
  )
}

function Results({ job, carrier, show }: Omit<TrayProps, 'jobs'> & { job: ImportJob; carrier: Carrier }) {
  const { added, failed, state } = job
  return (
    <>
      {failed.length > 0 && (
        <ul className="failures">
          {failed.map(({ url, why }) => (
            <li key={url}>
              <span className="address">{url}</span> {why}
            </li>
          ))}
        </ul>
      )}
      {state !== 'running' && (
        <div className="line">
          {failed.length > 0 && (
            <>
              <button type="button" onClick={() => carrier.retry(job)}>
                Try again
              </button>
              <button type="button" onClick={() => carrier.addPlain(job)}>
                Add as links
              </button>
            </>
          )}
          {show && added.length > 0 && (
            <button type="button" onClick={() => show(added)}>
              Show
            </button>
          )}
        </div>
      )}
    </>
  )
}
