# The packed program, and nothing else of the repository: npm pack && docker build --tag eider .
FROM node:22-slim

COPY eider-*.tgz /tmp/
RUN npm install --global --no-audit --no-fund /tmp/eider-*.tgz \
  && rm /tmp/eider-*.tgz \
  && npm cache clean --force

# The owner of an empty volume; a project of yours is mounted with your own user (docker run --user).
RUN useradd --uid 10001 --user-group --create-home --shell /usr/sbin/nologin eider \
  && mkdir /project \
  && chown eider:eider /project
USER eider
WORKDIR /project
VOLUME /project

# Inside of a container a loopback address reaches nobody. Both ports then need a token: COLLECT_TOKEN, ODATA_TOKEN.
ENV EIDER_PROJECT=/project COLLECT_HOST=0.0.0.0 ODATA_HOST=0.0.0.0
EXPOSE 8080 8090

HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
  CMD ["eider", "status", "--live", "--quiet"]
STOPSIGNAL SIGTERM
CMD ["eider", "up"]
