# The service in an image. The bases are arguments, both of them Debian or Ubuntu. The first one needs Node 20 or newer with
# npm. The second one needs nothing, because `npm ci` brings the Node that the service runs on.
#
#   docker build -t corkboard .
#   docker run --rm --read-only --tmpfs /tmp --init -p 4000:4000 -v corkboard:/data corkboard
ARG BUILD_BASE=docker.io/library/node:24-trixie-slim
ARG BASE=docker.io/library/debian:trixie-slim

FROM ${BUILD_BASE} AS packages
# The Node that the service runs on is linked with it.
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY patches ./patches
# The postinstall script patches packages, so the scripts have to run.
RUN npm ci --omit=dev --workspaces=false

# The app for browsers, built by the development dependencies, which the image does not have.
FROM packages AS app
COPY web ./web
RUN npm ci --workspaces=false

FROM ${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
# Nobody has to know the names of the image's users: the id is the same wherever its volumes are mounted.
RUN groupadd --gid 10001 corkboard \
  && useradd --uid 10001 --gid corkboard --no-create-home --shell /usr/sbin/nologin corkboard \
  && mkdir -p /data/files \
  && chown -R corkboard:corkboard /data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json tsconfig.json CHANGELOG.md ./
COPY patches ./patches
COPY core ./core
COPY platform ./platform
COPY sql ./sql
COPY collab ./collab
COPY workers ./workers
COPY api ./api
COPY server ./server
COPY --from=app /app/web/dist ./web/dist

USER 10001:10001
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data PATH=/app/node_modules/.bin:$PATH
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node itself is the first process, without a shell or npm before it, so SIGTERM reaches the service.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--import", "./server/preflight.js"]
CMD ["server/main.ts"]
