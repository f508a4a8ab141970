/** The cards that uploads will become, at their places. The tray tells the same in words. */
import { useSyncExternalStore, type ReactNode } from 'react'
import { ViewportPortal } from '@xyflow/react'
import { kindName } from '../contents/kinds.ts'
import type { Jobs, UploadJob } from '../files/jobs.ts'

export function Arriving({ jobs: { subscribe, get } }: { jobs: Jobs }): ReactNode {
  const jobs = useSyncExternalStore(subscribe, get)
  const uploads = jobs.filter((job) => job.is === 'upload' && job.state !== 'failed') as UploadJob[]
  return (
    <ViewportPortal>
      {uploads.map((job) => (
        <ArrivingCard key={job.id} job={job} />
      ))}
    </ViewportPortal>
  )
}

function ArrivingCard({ job: { frame, preview, kind, name, bytes, sentBytes } }: { job: UploadJob }) {
  const { x, y, w: width, h: height } = frame
  return (
    <div
      className="arriving"
      aria-hidden="true"
      style={{ width, height, transform: `translate(${x}px, ${y}px)` }}
    >
      {preview === null ? (
        <p>
          {kindName(kind)}
          <br />
          {name}
        </p>
      ) : (
        <img src={preview} alt="" />
      )}
      <div className="bar" style={{ width: `${(100 * sentBytes) / Math.max(1, bytes)}%` }} />
    </div>
  )
}
