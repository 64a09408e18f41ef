# The service and every command but `demo` and `simulate` in one image. It has no embedded database: set
# BELLWETHER_DATABASE_URL, or use docker-compose.yml.

FROM swift:6.3-bookworm AS build
WORKDIR /src
# The Makefile lists what a build needs. It comes first because it seldom changes.
COPY Makefile ./
RUN apt-get update -q \
    && apt-get install -q -y --no-install-recommends make \
    && make deps PACKAGES='$(BUILD_PACKAGES)' \
    && rm -rf /var/lib/apt/lists/*
COPY Package.swift ./
COPY Migrations Migrations
COPY Sources Sources
# Package.swift names the folders of tests and examples, so SwiftPM needs them.
COPY Tests Tests
COPY Examples Examples
# Swift's own libraries are linked into the program, so the image needs no Swift. Symbol names stay for perf and gdb.
RUN swift build -c release --static-swift-stdlib --product bellwether \
    && strip --strip-debug -o /bellwether .build/release/bellwether

FROM debian:12-slim
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Bellwether" \
      org.opencontainers.image.description="Event-sourced analytics of how people interact with push notifications" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}"
# Only what the program is linked to (libpq, simdjson, zlib, OpenSSL, the C++ runtime), time zones for `date` in scripts, and
# certificate authorities for the database's certificate.
RUN apt-get update -q \
    && apt-get install -q -y --no-install-recommends \
        libpq5 libsimdjson14 zlib1g libssl3 libstdc++6 tzdata ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --user-group --uid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin bellwether \
    && install --directory --owner=bellwether --group=bellwether /reports
COPY --from=build /bellwether /usr/local/bin/bellwether
USER 10001:10001
# If a library is missing, fail here and not at night.
RUN bellwether --help >/dev/null
# BELLWETHER_DATA is for anybody who forgets to name a database: the error is then about that, and not about a missing home.
ENV BELLWETHER_LISTEN=0.0.0.0:8080 BELLWETHER_DATA=/tmp/bellwether
EXPOSE 8080
# On SIGTERM `serve` finishes the requests in flight; see stop_grace_period in docker-compose.yml.
STOPSIGNAL SIGTERM
# Is it ready for traffic? Debian always has bash, which can open a socket, so the image needs no HTTP client.
# With TLS, or on another port, give the container its own health check.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3 && read -r -t 4 answer <&3 && [[ $answer == *' 200 '* ]]"]
ENTRYPOINT ["bellwether"]
CMD ["serve"]
