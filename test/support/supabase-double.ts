/**
 * A bucket in memory, with the part of Supabase Storage that the service uses. It behaves like a real server: JSON
 * errors have HTTP status 400 and the real status in `statusCode`, a wrong key gives the error of a missing bucket, and
 * the S3 endpoint combines parts in the given order.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { s3Handler, type Bucket } from './s3-double.ts'

export const serviceKey = 'service-key-of-the-double'

export function supabaseHandler(bucketName: string, bucket: Bucket) {
  const s3 = s3Handler(bucketName, bucket, '/storage/v1/s3', { trustsPartOrder: true })
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = decodeURIComponent(request.url!.split('?')[0]!)
    if (path.startsWith('/storage/v1/s3/')) return s3(request, response)
    const json = (body: unknown, status = 200) => {
      request.resume()
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    const refuse = (statusCode: string, error: string, message: string) =>
      json({ statusCode, error, message }, 400)
    const [, kind = '', rest = ''] =
      /^\/storage\/v1\/(bucket|object\/info|object\/list|object)\/(.*)$/.exec(path) ?? []
    const [name, ...parts] = rest.split('/')
    if (request.headers.authorization !== `Bearer ${serviceKey}` || name !== bucketName)
      return refuse('404', 'Bucket not found', 'Bucket not found')
    const key = parts.join('/')
    const object = bucket.objects.get(key)
    const missing = () => refuse('404', 'not_found', 'Object not found')
    if (bucket.readOnly && request.method !== 'GET')
      return refuse('403', 'Unauthorized', 'new row violates row-level security policy')
    switch (`${request.method} ${kind}`) {
      case 'GET bucket':
        return json({ id: bucketName, name: bucketName, public: false })
      case 'POST object':
      case 'PUT object': {
        if (object && request.headers['x-upsert'] !== 'true')
          return refuse('409', 'Duplicate', 'The resource already exists')
        const body = await buffer(request).catch(() => null)
        if (!body) return
        bucket.objects.set(key, body)
        return json({ Id: key, Key: `${bucketName}/${key}` })
      }
      case 'GET object/info':
        return object
          ? json({ id: key, name: key, size: object.length, content_type: 'image/png' })
          : missing()
      case 'GET object': {
        if (!object) return missing()
        const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
        const bytes = range ? object.subarray(Number(range[1]), Number(range[2]) + 1) : object
        response.writeHead(range ? 206 : 200, { 'content-length': String(bytes.length) })
        return void response.end(bytes)
      }
      case 'DELETE object': {
        const { prefixes } = JSON.parse(String(await buffer(request))) as { prefixes: string[] }
        return json(
          prefixes.filter((prefix) => bucket.objects.delete(prefix)).map((prefix) => ({ name: prefix })),
        )
      }
      case 'POST object/list': {
        const page = JSON.parse(String(await buffer(request)))
        const { prefix, limit, offset } = page as { prefix: string; limit: number; offset: number }
        const folder = prefix === '' ? '' : `${prefix}/`
        const entries = new Map<string, number | null>()
        for (const [stored, { length }] of bucket.objects) {
          if (!stored.startsWith(folder)) continue
          const [entry = '', ...deeper] = stored.slice(folder.length).split('/')
          entries.set(entry, deeper.length > 0 ? null : length)
        }
        const listed = [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).slice(offset, offset + limit)
        return json(
          listed.map(([entry, size]) => ({
            name: entry,
            id: size === null ? null : entry,
            metadata: size === null ? null : { size },
          })),
        )
      }
      default:
        return refuse('404', 'not_found', 'Route not found')
    }
  }
}
