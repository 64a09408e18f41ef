# The service and every command in one image. The embedded database is not in it: name a database by
# BELLWETHER_DATABASE_URL, or use docker-compose.yml.

FROM swift:6.3-bookworm AS build
WORKDIR /src
# The Makefile knows what a build needs. First, since it seldom changes.
COPY Makefile ./
RUN apt-get update -q \
    && apt-get install -q -y --no-install-recommends make \
    && make deps PACKAGES='$(BUILD_PACKAGES)' \
    && rm -rf /var/lib/apt/lists/*
COPY Package.swift ./
COPY Migrations Migrations
COPY Sources Sources
# Package.swift names the folders of tests and examples, and SwiftPM wants to see them.
COPY Tests Tests
COPY Examples Examples
# Swift's own libraries go into the program, so the image needs no Swift. Names stay in it for perf and gdb.
RUN swift build -c release --static-swift-stdlib --product bellwether \
    && strip --strip-debug -o /bellwether .build/release/bellwether

FROM debian:12-slim
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Bellwether" \
      org.opencontainers.image.description="Event-sourced analytics of how people interact with push notifications" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}"
# What the program is linked to, and no more: libpq, simdjson, zlib, OpenSSL, libcurl, the C++ runtime;
# time zones for `date` in scripts, and the authorities that sign a database's certificate.
RUN apt-get update -q \
    && apt-get install -q -y --no-install-recommends \
        libpq5 libsimdjson14 zlib1g libssl3 libcurl4 libstdc++6 tzdata ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --user-group --uid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin bellwether \
    && install --directory --owner=bellwether --group=bellwether /reports
COPY --from=build /bellwether /usr/local/bin/bellwether
USER 10001:10001
# A program that lacks a library fails here and not in the night.
RUN bellwether --help >/dev/null
# The second is for who forgets to name a database: so that it is this that is missing, and not a home.
ENV BELLWETHER_LISTEN=0.0.0.0:8080 BELLWETHER_DATA=/tmp/bellwether
EXPOSE 8080
# `serve` finishes what is in flight; see stop_grace_period in docker-compose.yml.
STOPSIGNAL SIGTERM
# Is it fit for traffic? bash, which Debian always has, can open a socket: no HTTP client has to be in the image for this.
# Over TLS, or on another port, give the container a health check of its own.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3 && read -r -t 4 answer <&3 && [[ $answer == *' 200 '* ]]"]
ENTRYPOINT ["bellwether"]
CMD ["serve"]
