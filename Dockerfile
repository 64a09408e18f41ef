# The service and every command but `demo` and `simulate` in one image, and what `report --deliver` needs. It has no embedded database: set
# BELLWETHER_DATABASE_URL, or use docker-compose.yml.

FROM swift:6.3-bookworm AS build
WORKDIR /src
# The Makefile lists what a build needs. It comes first because it seldom changes.
COPY Makefile ./
RUN apt-get update -q \
    && apt-get install -q -y --no-install-recommends make \
    && make deps PACKAGES='$(BUILD_PACKAGES) $(CLIENT_PACKAGES)' \
    && rm -rf /var/lib/apt/lists/*
COPY Package.swift ./
COPY Migrations Migrations
COPY Sources Sources
# Package.swift names the folders of tests and examples, so SwiftPM needs them.
COPY Tests Tests
COPY Examples Examples
# Swift's own libraries are linked into the program, so the image needs no Swift. Symbol names stay for perf and gdb.
RUN for program in bellwether bellwether-deliver; do \
        swift build -c release --static-swift-stdlib --product $program \
        && strip --strip-debug -o /$program .build/release/$program || exit 1; \
    done

FROM debian:12-slim
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Bellwether" \
      org.opencontainers.image.description="Event-sourced analytics of how people interact with push notifications" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}"
# Only what the programs are linked to (libpq, simdjson, zlib, OpenSSL, the C++ runtime, and libcurl for bellwether-deliver), time
# zones for `date` in scripts, certificate authorities for the certificates of the database and of webhooks, and a sendmail. It is
# msmtp, which hands mail to a server of yours: its settings are mounted with the file of places (docker-compose.yml).
RUN apt-get update -q \
    && apt-get install -q -y --no-install-recommends \
        libpq5 libsimdjson14 zlib1g libssl3 libstdc++6 libcurl4 tzdata ca-certificates msmtp-mta \
    && ln -s /deliver/msmtprc /etc/msmtprc \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --user-group --uid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin bellwether \
    && install --directory --owner=bellwether --group=bellwether /reports
COPY --from=build /bellwether /bellwether-deliver /usr/local/bin/
USER 10001:10001
# If a library is missing, fail here and not at night.
RUN bellwether --help >/dev/null && bellwether-deliver --help >/dev/null
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
