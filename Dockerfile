# Installs the dependencies, finds the runtime among them, and builds the console.
FROM node:22-bookworm-slim AS build
WORKDIR /opt/tollgate
COPY package.json package-lock.json .npmrc ./
COPY scripts/install.mjs scripts/
COPY console/build.ts console/package.json console/
COPY console/src console/src
RUN cp "$(node scripts/install.mjs production)" /usr/local/bin/bun \
    && rm -r node_modules/bun node_modules/@oven node_modules/swagger-ui-dist/*.map \
    # The packages of the console are in its built files.
    && rm -r node_modules/tollgate-console node_modules/@preact node_modules/openapi-* node_modules/preact* \
        node_modules/uplot node_modules/uqr

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/tollgate --create-home tollgate \
    && chmod 700 /var/lib/tollgate \
    && install --directory --owner=tollgate --mode=700 /var/backups/tollgate
COPY --from=build /usr/local/bin/bun /usr/local/bin/bun
COPY --from=build /opt/tollgate/node_modules /opt/tollgate/node_modules
COPY deploy/tollgate.sh /usr/local/bin/tollgate
COPY package.json /opt/tollgate/
COPY --from=build /opt/tollgate/console/dist /opt/tollgate/console/dist
COPY src /opt/tollgate/src
# The last three are the settings of the runtime in bin/tollgate and scripts/bun.sh.
ENV TOLLGATE_HOST=0.0.0.0 \
    TOLLGATE_DATA_DIR=/var/lib/tollgate \
    BUN_JSC_forceRAMSize=536870912 \
    MIMALLOC_PURGE_DELAY=-1 \
    BUN_CONFIG_MAX_HTTP_REQUESTS=65335
USER 10001
WORKDIR /var/lib/tollgate
VOLUME /var/lib/tollgate
EXPOSE 8787
# `fetch` would ask the proxy that HTTP_PROXY names.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["bun", "-e", "require('node:http').get({ host: '127.0.0.1', port: parseInt(process.env.TOLLGATE_PORT) || 8787, path: '/health/live' }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["tollgate"]
CMD ["serve"]
