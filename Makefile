# SPDX-License-Identifier: MIT
# pstat. `make` alone is enough; ./configure is optional and only writes config.mk, read here.
#
#   make                        ./pstat
#   make deps demo              all the set-up, then count, record and report a real command
#   make deps check             all the set-up, then the tests
#   make static                 build/*/static/pstat: one file that needs no other, see below
#   make static CROSS=arm64     the same for arm64, in build/aarch64-linux-gnu-gcc, or riscv64; CROSS is for each goal that builds
#   make install PREFIX=/usr    also DESTDIR=..., and uninstall; the library with it
#   make library                libpstat.a, libpstat.so and pstat.pc alone, in build/*/library
#   make dist                   build/dist/pstat-VERSION.tar.xz: the source, the same bytes each time
#   make deb | rpm | apk        packages of it in build/deb, build/rpm, build/apk; RELEASE=2 is a newer one of the same version
#   make release-check          whether this tree may be released: all of these, and the tests
#   make install-bindings       what Python, Go and Rust need of it; install-python: the module alone, in PYTHONDIR
#   make lint | fuzz | bench    parts of the tests by themselves
#   make check-long             soaks, fuzzing for long, big recordings: for LONG_SECONDS (600) each
#   make check-threads          what has threads, with the thread sanitizer
#   make check-lab              tests on an emulated arm64 machine with a real counter unit
#
#   CC=clang  CFLAGS=...  DEVELOPER=1 (strict warnings are errors)  SANITIZE=address,undefined
#   WITH_LIBPFM4=0 (no vendor event names)  WITH_LIBIBERTY=0 (no demangling)
#   WITH_LIBLZMA=0 (no packed symbols)  WITH_LIBUNWIND=0 (libdw unwinds)
#   WITH_CAPSTONE=0 (no disassembly)
#   WITH_NCURSES=0 (report prints, also on terminals)
#   WITH_LIBARCHIVE=0 (no pstat archive)  WITH_SQLITE=0 (no databases by pstat export)
#   WITH_LIBBPF=0 (nothing is counted in the kernel)  WITH_JANSSON=0 (no pstat compare --load)
#   V=1 (show commands)  FUZZ_SECONDS=20
#
# Each compiler and sanitizer builds into its own folder under build/, so that they do not undo each
# other's work; ./pstat is a copy of the one built last. Sources are found by wildcard: a new file
# needs no line here.

# What is asked for beside `deps` is made by a second make, which then finds what deps installed.
AFTER_DEPS := $(if $(filter deps,$(MAKECMDGOALS)),$(filter-out deps,$(MAKECMDGOALS)))
ifneq ($(AFTER_DEPS),)
.NOTPARALLEL:
.PHONY: deps $(AFTER_DEPS)
deps:
	@.ci/deps
$(AFTER_DEPS): deps
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) $@
else

# ---- for another kind of machine ----
# CROSS=arm64: by the compiler of Debian's gcc-aarch64-linux-gnu, whatever CC is, with Debian's packages for arm64, which
# are unpacked into SYSROOT. config.mk is not read: it is of this machine.
#
# To add one: a row here, if Debian has it. For riscv64 it has packages since Debian 13.
CROSS_arm64 := aarch64-linux-gnu
CROSS_riscv64 := riscv64-linux-gnu
ifneq ($(CROSS),)
CROSS_MACHINE := $(or $(CROSS_$(CROSS)),$(error CROSS=$(CROSS): not known; known: $(sort $(patsubst CROSS_%,%,$(filter CROSS_%,$(.VARIABLES))))))
SYSROOT ?= $(CURDIR)/build/sysroot-$(CROSS)
override CC := $(CROSS_MACHINE)-gcc --sysroot=$(SYSROOT)
AR := $(CROSS_MACHINE)-ar
OBJCOPY := $(CROSS_MACHINE)-objcopy
PKG_CONFIG := PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
	PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(CROSS_MACHINE)/pkgconfig:$(SYSROOT)/usr/share/pkgconfig pkg-config
ifeq ($(shell command -v $(firstword $(CC))),)
$(error CROSS=$(CROSS): $(firstword $(CC)) is not installed. What to do: apt-get install gcc-$(CROSS_MACHINE))
endif
ifneq ($(shell .ci/sysroot $(CROSS) $(SYSROOT) >&2 && echo made),made)
$(error CROSS=$(CROSS): $(SYSROOT) cannot be made)
endif
else
-include config.mk
endif

ifeq ($(origin CC),default)
CC := cc
endif
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
EXAMPLESDIR ?= $(PREFIX)/share/doc/pstat/examples
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPLETIONDIR ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPLETIONDIR ?= $(PREFIX)/share/fish/vendor_completions.d
DATADIR ?= $(PREFIX)/share/pstat
UNITDIR ?= $(PREFIX)/lib/systemd/system
PKG_CONFIG ?= pkg-config
OBJCOPY ?= objcopy
INSTALL ?= install
FUZZ_SECONDS ?= 20

# ---- where: build/cc, build/clang-address-undefined, ... ----
comma := ,
BUILD ?= build/$(notdir $(firstword $(CC)))$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))

# ---- libraries ----
# Headers of these must be there to build. None is linked: start-up time is a promise, so what
# counting may need from them is loaded when it is first needed.
NEEDED_LIBS := libelf libdw
LIBS_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(NEEDED_LIBS) 2>/dev/null)

# has_header(NAME): 1 or 0. What can be left out is looked for by its header.
hash := \#
has_header = $(if $(shell echo '$(hash)include <$1>' | $(CC) $(CPPFLAGS) $(LIBS_CFLAGS) -E -o /dev/null - 2>/dev/null && \
	echo yes),1,0)
WITH_LIBPFM4 ?= $(call has_header,perfmon/pfmlib_perf_event.h)
WITH_LIBIBERTY ?= $(call has_header,libiberty/demangle.h)
WITH_LIBLZMA ?= $(call has_header,lzma.h)
WITH_LIBUNWIND ?= $(call has_header,libunwind.h)
WITH_CAPSTONE ?= $(call has_header,capstone/capstone.h)
WITH_NCURSES ?= $(call has_header,ncurses.h)
WITH_LIBARCHIVE ?= $(call has_header,archive.h)
WITH_SQLITE ?= $(call has_header,sqlite3.h)
WITH_JANSSON ?= $(call has_header,jansson.h)
# Programs for the kernel are made by clang, whatever CC is. Headers of the kernel's that they include are below a
# folder of the architecture on some systems.
BPF_CLANG ?= clang
BPF_COMPILE = $(BPF_CLANG) -target bpf -mcpu=v3 -std=gnu11 -O2 -g -fdebug-compilation-dir=. -Wall -Wextra \
	$(if $(SYSROOT),-I$(SYSROOT)/usr/include) -I$(SYSROOT)/usr/include/$(shell $(CC) -print-multiarch 2>/dev/null)
makes_bpf = $(if $(shell command -v $(BPF_CLANG) >/dev/null && \
	printf '$(hash)include <%s>\n' linux/bpf.h bpf/bpf_helpers.h | $(BPF_COMPILE) -x c -c -o /dev/null - 2>/dev/null && \
	echo yes),1,0)
WITH_LIBBPF ?= $(if $(filter 1,$(call has_header,bpf/libbpf.h)),$(makes_bpf),0)
# Asked once, not each time that they are used.
WITH_LIBPFM4 := $(WITH_LIBPFM4)
WITH_LIBIBERTY := $(WITH_LIBIBERTY)
WITH_LIBLZMA := $(WITH_LIBLZMA)
WITH_LIBUNWIND := $(WITH_LIBUNWIND)
WITH_CAPSTONE := $(WITH_CAPSTONE)
WITH_NCURSES := $(WITH_NCURSES)
WITH_LIBARCHIVE := $(WITH_LIBARCHIVE)
WITH_SQLITE := $(WITH_SQLITE)
WITH_JANSSON := $(WITH_JANSSON)
WITH_LIBBPF := $(WITH_LIBBPF)

# ---- flags ----
STRICT_WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wvla \
	-Wformat=2 -Wno-format-nonliteral -Werror
WARNINGS := $(if $(filter 1,$(DEVELOPER)),$(STRICT_WARNINGS),-Wall -Wextra)
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# What the code relies on, whatever CFLAGS says. No errno from sqrt(): then it is an instruction, and no libm is loaded.
BASE_FLAGS := -std=gnu11 -D_GNU_SOURCE -fno-math-errno -iquote src $(LIBS_CFLAGS) $(SANITIZE_FLAGS) $(WARNINGS)
COMPILE = $(CC) $(BASE_FLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP
# At fixed addresses a sanitized program needs no relocations, which are a third of a short run's time.
# 160 of them are linked: lld takes a third of the time that ld takes. Its build-ids are of another kind unless it is asked.
LLD := $(if $(and $(SANITIZE),$(findstring clang,$(CC)),$(shell command -v ld.lld)),-fuse-ld=lld -Wl$(comma)--build-id=sha1)
LINK = $(CC) $(SANITIZE_FLAGS) $(if $(findstring address,$(SANITIZE)),-no-pie) $(LLD) $(CFLAGS) $(LDFLAGS)
# Functions of the C library are bound at the start: a command that is started finds them in the pages that it shares with
# pstat, and what hostile input could overwrite is read-only. libiberty is a static library: it costs nothing at start-up.
# Not libm, which would be mapped at each start; what tests check against it has it.
LDLIBS := -Wl,--as-needed,-z,now -ldl -lpthread $(if $(filter 1 yes,$(WITH_LIBIBERTY)),-liberty)
Q := $(if $(V),,@)

# ---- files ----
# Stand-ins that the library has where the program has what they stand for, see "the library" below.
ONLY_LIBRARY := util/memory_exhausted_none.c util/remote_open_none.c elf/elf_plain.c
# And those that the static file has, see "one static file".
ONLY_STATIC := util/library_static.c util/users_static.c sym/debuginfod_none.c
# One of pfm.c and pfm_none.c defines the libpfm4 source, and so on; no caller knows which.
with_or_none = $(if $(filter 0 no,$1),$2.c,$2_none.c)
LEFT_OUT := $(addprefix src/,$(call with_or_none,$(WITH_LIBPFM4),event/pfm) \
	$(call with_or_none,$(WITH_LIBIBERTY),sym/demangle) \
	$(call with_or_none,$(WITH_LIBLZMA),elf/elf_xz) \
	$(call with_or_none,$(WITH_LIBUNWIND),unwind/unwind_libunwind) \
	$(call with_or_none,$(WITH_CAPSTONE),annotate/disasm_capstone) \
	$(call with_or_none,$(WITH_NCURSES),screen/terminal_ncurses) \
	$(call with_or_none,$(WITH_LIBARCHIVE),buildcache/tar_libarchive) \
	$(call with_or_none,$(WITH_SQLITE),export/db_sqlite) \
	$(call with_or_none,$(WITH_JANSSON),compare/load_jansson) \
	$(call with_or_none,$(WITH_LIBBPF),bpf/loaded_libbpf) \
	$(ONLY_LIBRARY) $(ONLY_STATIC))
# For the kernel: each becomes an object for BPF, which the program carries.
BPF_SOURCES := $(sort $(wildcard src/*/*.bpf.c))
BPF_OBJECTS := $(if $(filter 0 no,$(WITH_LIBBPF)),,$(BPF_SOURCES:src/%.c=$(BUILD)/src/%.elf))
SOURCES := $(filter-out $(LEFT_OUT) $(BPF_SOURCES),$(sort $(wildcard src/*/*.c)))
# Pages, styles and scripts that the program prints: each is a text in it, see "files in the program".
TEXT_FILES := $(sort $(foreach kind,css html js py sql,$(wildcard src/*/*.$(kind))))
TERMINALS_LIST := $(if $(filter 0 no,$(WITH_NCURSES)),,$(BUILD)/src/screen/terminals.list)
TEXT_OBJECTS := $(TEXT_FILES:%=$(BUILD)/%.o) $(BPF_OBJECTS:%=%.o) $(TERMINALS_LIST:%=%.o)
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/src/%.o) $(TEXT_OBJECTS)
UNIT_NAMES ?= test_*
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard $(UNIT_NAMES:%=tests/unit/%.c))))
FAKE_OBJECTS := $(patsubst tests/fake/%.c,$(BUILD)/tests/fake/%.o,$(sort $(wildcard tests/fake/*.c)))
WORKLOADS := $(patsubst tests/work/%.c,$(BUILD)/tests/work/%,$(sort $(wildcard tests/work/*.c)))
BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/tests/bench/%,$(sort $(wildcard tests/bench/*.c)))
GOLDEN := $(BUILD)/tests/golden/make_recordings
GOLDEN_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/golden/*.c)))
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
MAN_SECTIONS := 1 3 5 7
MAN_PAGES := $(sort $(wildcard $(MAN_SECTIONS:%=man/*.%)))

all: pstat

# A copy, and only when it differs: another variant may have been built before.
pstat: $(BUILD)/pstat force
	@cmp -s $< $@ || cp -f $< $@

$(BUILD)/pstat: $(BUILD)/src/main.o $(BUILD)/program.a
	@echo "  LINK    $@"
	$(Q)$(LINK) -o $@ $^ $(LDLIBS)

$(BUILD)/program.a: $(OBJECTS) $(BUILD)/sources
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(OBJECTS)

# Functions without a bound are compile errors in the program itself: see src/util/banned.h.
$(BUILD)/src/%.o: src/%.c $(BUILD)/flags | $(BUILD)/libs
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(COMPILE) $(if $(filter $(LIBRARY_FOLDERS:%=%/%) $(LIBRARY_SHARED) $(ONLY_LIBRARY),$*.c),$(LIBRARY_FLAGS)) \
		$(if $(filter count/lib_measure,$*),-fexceptions) \
		$(if $(filter util/library_static,$*),-include $(BUILD)/static/functions.h) -include src/util/banned.h -c -o $@ $<

# These change when the flags or the list of sources do, so that nothing stale is linked.
quote = '$(subst ','\'',$1)'
write_if_new = printf '%s\n' $(call quote,$1) | cmp -s - $@ || printf '%s\n' $(call quote,$1) > $@
$(BUILD)/flags: force
	@mkdir -p $(@D)
	@$(call write_if_new,$(COMPILE) $(LINK))
$(BUILD)/sources: force
	@mkdir -p $(@D)
	@$(call write_if_new,$(SOURCES) $(TEXT_FILES) $(BPF_OBJECTS))

# ---- files in the program ----
# src/fmt/page.css becomes `const char page_css[]`, which ends in a 0.
as_array = { echo 'extern const char $1[];'; echo '_Alignas(8) const char $1[] = {'; \
	od -An -v -tx1 $< | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'; echo '0};'; }
$(BUILD)/src/%.text.c: src/% Makefile
	@mkdir -p $(@D)
	$(Q)$(call as_array,$(subst .,_,$(notdir $*))) > $@
# src/bpf/x.bpf.c becomes `const char x_bpf_elf[]`, and `const unsigned long x_bpf_elf_bytes` without the last 0.
$(BUILD)/src/%.bpf.elf: src/%.bpf.c $(wildcard src/bpf/layout.h) Makefile
	@mkdir -p $(@D)
	@echo "  BPF     $<"
	$(Q)$(BPF_COMPILE) -c -o $@ $<
$(BUILD)/src/%.bpf.elf.text.c: $(BUILD)/src/%.bpf.elf
	$(Q){ $(call as_array,$(notdir $*)_bpf_elf); echo 'extern const unsigned long $(notdir $*)_bpf_elf_bytes;'; \
		echo 'const unsigned long $(notdir $*)_bpf_elf_bytes = sizeof($(notdir $*)_bpf_elf) - 1;'; } > $@
# Terminals as this machine's terminfo describes them, for machines whose terminfo does not: each is a line.
TERMINALS := xterm xterm-256color screen screen-256color tmux tmux-256color linux vt100 vt220 rxvt-unicode-256color \
	alacritty foot xterm-kitty
$(BUILD)/src/screen/terminals.list: Makefile
	@mkdir -p $(@D)
	$(Q)for name in $(TERMINALS); do description=$$(infocmp -q -Q2 $$name 2>/dev/null) || continue; \
		echo "$$name $$(echo "$$description" | grep -v '^$(hash)' | tr -d '\n')"; done > $@
$(BUILD)/src/screen/terminals.list.text.c: $(BUILD)/src/screen/terminals.list
	$(Q)$(call as_array,terminals_list) > $@
$(TEXT_OBJECTS): %.o: %.text.c $(BUILD)/flags
	@echo "  TEXT    $(@:$(BUILD)/%.o=%)"
	$(Q)$(COMPILE) -c -o $@ $<

$(BUILD)/libs:
	@mkdir -p $(@D)
	@$(PKG_CONFIG) --version >/dev/null 2>&1 || \
		{ echo "make: $(PKG_CONFIG) is not installed. What to do: make deps" >&2; exit 1; }
	@for lib in $(NEEDED_LIBS); do $(PKG_CONFIG) --exists $$lib || \
		{ echo "make: the library $$lib is not installed. What to do: make deps" >&2; exit 1; }; done
	@touch $@

# ---- the library ----
# The program's own objects, of these folders: compiled so that they may be at any address, and that only what
# libpstat.h declares is seen from outside. Objects of -flto would keep the linker from putting the ledger in, see below.
LIBRARY_FOLDERS := util event kern count data
# Symbols of ELF files and of the kernel are read by these of other folders.
LIBRARY_SHARED := $(addprefix elf/elf_,function.c lookup.c version.c) \
	$(addprefix sym/,elf_symbols.c kallsyms.c live_names.c symbol_table.c text_lines.c)
LIBRARY_FLAGS := -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -fno-lto
LIBRARY_SO := libpstat.so.0
LIBRARY_FILES := $(addprefix $(BUILD)/library/,libpstat.a $(LIBRARY_SO) pstat.pc)
# Its calls, and what they need, found by the linker: all but what has stand-ins in the library.
LIBRARY_CALLS := $(patsubst src/%.c,$(BUILD)/src/%.o,$(filter-out %/lib_memory.c, \
	$(wildcard src/count/lib_*.c src/count/user_read.c)))
LIBRARY_PARTS := $(patsubst src/%.c,$(BUILD)/src/%.o,$(filter-out src/event/pfm.c src/util/memory_exhausted.c \
	src/util/remote_open.c $(ONLY_STATIC:%=src/%),$(filter $(LIBRARY_FOLDERS:%=src/%/%),$(sort $(wildcard src/*/*.c)))) \
	$(LIBRARY_SHARED:%=src/%) $(ONLY_LIBRARY:%=src/%))

library: $(LIBRARY_FILES)

# malloc() and all that takes memory or descriptors is __wrap_malloc() ... of lib_memory.c, which alone calls libc's.
LIBRARY_MEMORY := $(BUILD)/src/count/lib_memory.o
LEDGER := malloc calloc realloc reallocarray strdup strndup free open openat epoll_create1 close syscall opendir closedir \
	fopen fclose mmap munmap __sched_cpualloc __sched_cpufree

# One object, of which the program that it is linked into sees no more than pstat_*.
$(BUILD)/library/libpstat.o: $(LIBRARY_CALLS) $(LIBRARY_PARTS) $(LIBRARY_MEMORY)
	@echo "  LIBRARY $(@D)"
	@mkdir -p $(@D)
	$(Q)rm -f $(@D)/parts.a
	$(Q)$(AR) rcs $(@D)/parts.a $(filter-out $(LIBRARY_MEMORY),$(LIBRARY_PARTS))
	$(Q)$(CC) -r -nostdlib -Wl,--gc-sections,--gc-keep-exported $(LEDGER:%=-Wl,--wrap=%) \
		-o $(@D)/wrapped.o $(LIBRARY_CALLS) $(@D)/parts.a
	$(Q)$(CC) -r -nostdlib -o $@ $(@D)/wrapped.o $(LIBRARY_MEMORY)
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='pstat_*' $@

$(BUILD)/library/libpstat.a: $(BUILD)/library/libpstat.o
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $<

$(BUILD)/library/$(LIBRARY_SO): $(BUILD)/library/libpstat.o src/count/libpstat.map
	$(Q)$(LINK) -shared -Wl,-soname,$(@F),--version-script=src/count/libpstat.map,-z,defs -o $@ $<
	$(Q)ln -sf $(@F) $(@D)/libpstat.so

VERSION = $(shell sed -n 's/^.define PSTAT_VERSION "\(.*\)"/\1/p' src/util/util.h)
$(BUILD)/library/pstat.pc: force
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$(INCLUDEDIR)' '' 'Name: pstat' \
		'Description: counting and sampling with the perf events of Linux' 'Version: $(VERSION)' \
		'Libs: -L$${libdir} -lpstat' 'Cflags: -I$${includedir}' > $@.new
	@cmp -s $@.new $@ || cp $@.new $@

# What uses the library as other programs do: strict C against what is installed, never the tree's headers. An
# example in C++ is built by a C++ compiler, where there is one.
LIBRARY_TESTS := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/library/*.c)))
EXAMPLES := $(patsubst tests/examples/%,$(BUILD)/tests/library/%,$(basename $(sort $(wildcard tests/examples/*.c tests/examples/*.cc))))
# A sanitizer's library is that of the compiler that made the objects.
LIBRARY_CXX := $(if $(SANITIZE),$(subst clang,clang++,$(subst gcc,g++,$(patsubst cc,$(CXX),$(CC)))),$(CXX))
REFUSABLE := malloc calloc reallocarray strdup strndup free fopen opendir mmap munmap open epoll_create1 syscall \
	__sched_cpualloc __sched_cpufree
$(BUILD)/library/include/libpstat.h: src/count/libpstat.h
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(LIBRARY_TESTS): $(BUILD)/%: %.c $(wildcard tests/library/*.h) $(BUILD)/library/libpstat.a $(BUILD)/library/include/libpstat.h
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) $(CPPFLAGS) $(SANITIZE_FLAGS) $(CFLAGS) -I$(BUILD)/library/include \
		$(if $(filter nomem%,$(@F)),$(REFUSABLE:%=-Wl,--wrap=%)) -o $@ $< $(LDFLAGS) $(BUILD)/library/libpstat.a -lpthread
$(BUILD)/tests/library/%: tests/examples/%.c $(BUILD)/library/libpstat.a $(BUILD)/library/include/libpstat.h
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c99 -pedantic $(WARNINGS) $(CPPFLAGS) $(SANITIZE_FLAGS) $(CFLAGS) -I$(BUILD)/library/include \
		-o $@ $< $(LDFLAGS) $(BUILD)/library/libpstat.a -lpthread
$(BUILD)/tests/library/%: tests/examples/%.cc $(BUILD)/library/libpstat.a $(BUILD)/library/include/libpstat.h
	@mkdir -p $(@D)
	$(Q)! command -v $(LIBRARY_CXX) >/dev/null || $(LIBRARY_CXX) -std=c++11 -pedantic -Wall -Wextra $(CPPFLAGS) $(SANITIZE_FLAGS) $(CFLAGS) \
		-I$(BUILD)/library/include -o $@ $< $(LDFLAGS) $(BUILD)/library/libpstat.a

# A sanitizer is in the objects, and a library with one has no use outside: its C programs alone are built. In one
# thread there is nothing for SANITIZE=thread to see.
LIBRARY_PROGRAMS = $(if $(SANITIZE),$(if $(filter thread,$(subst $(comma), ,$(SANITIZE))),,$(LIBRARY_TESTS) $(EXAMPLES)), \
	$(LIBRARY_FILES) $(LIBRARY_TESTS) $(EXAMPLES) $(BINDING_TESTS))

# ---- one static file ----
# The program's own objects once more, linked with archives of the libraries: it is copied alone to where it shall run.
# What library_load() finds is linked, the functions that its callers name; users are looked up in /etc/passwd.
# At fixed addresses (not -static-pie) there is nothing to relocate, which would touch each page of libpfm4's tables. What is kept of an
# archive is what is used: libarchive's other formats would bring libxml2 and more.
#
# Left out: libdebuginfod (libcurl and what asks servers are no archives), libsqlite3 (1.5 MB, and it loads libraries),
# libunwind (stacks are unwound by rows of our own, then by libdw).
STATIC_NONE := export/db_sqlite unwind/unwind_libunwind
STATIC_OBJECTS := $(patsubst %.c,$(BUILD)/src/%.o,main.c $(ONLY_STATIC) $(STATIC_NONE:%=%_none.c))
# archive_of(SOURCE, NAMES): the archives, where that source is in the program. A new one has to be named here. zlib comes
# before libelf, whose newer archives have a crc32() of their own, and after all that call it.
archive_of = $(if $(filter src/$1.c,$(SOURCES)),$2)
STATIC_ARCHIVES := $(call archive_of,buildcache/tar_libarchive,archive bz2) $(call archive_of,bpf/loaded_libbpf,bpf) z dw elf \
	$(call archive_of,event/pfm,pfm) $(call archive_of,annotate/disasm_capstone,capstone) \
	$(call archive_of,screen/terminal_ncurses,ncursesw tinfo) $(call archive_of,sym/demangle,iberty) \
	$(call archive_of,compare/load_jansson,jansson) lzma zstd z c
ARCHIVE_FOLDERS = $(patsubst =%,%,$(subst :, ,$(shell $(CC) -print-search-dirs | sed -n 's/^libraries: //p'))) \
	$(patsubst -L%,%,$(filter -L%,$(LDFLAGS)))
STATIC_MISSING = $(strip $(foreach file,$(STATIC_ARCHIVES:%=lib%.a),$(if $(wildcard $(ARCHIVE_FOLDERS:%=%/$(file))),,$(file))))
STATIC_CALLERS = $(filter-out $(STATIC_NONE:%=src/%.c) src/sym/debuginfod.c, \
	$(shell grep -l 'struct library_symbol [a-z_]*\[\]' $(SOURCES)))

static: $(BUILD)/static/archives $(BUILD)/static/pstat
	@echo "  STATIC  $(BUILD)/static/pstat: $$(stat -c %s $(BUILD)/static/pstat) bytes"

# One object, whose names are its own: archives have functions of the same names (glob_match() of libbpf).
$(BUILD)/static/program.o: $(STATIC_OBJECTS) $(BUILD)/program.a
	$(Q)$(CC) -r -nostdlib $(CFLAGS) $(LDFLAGS) $(if $(and $(filter -flto%,$(CFLAGS)),$(filter-out clang%,$(notdir $(firstword $(CC))))),-flinker-output=nolto-rel) -o $@ $^
	$(Q)$(OBJCOPY) --keep-global-symbol=main $@

$(BUILD)/static/pstat: $(BUILD)/static/program.o | $(BUILD)/static/archives
	@echo "  LINK    $@"
	$(Q)$(if $(SANITIZE),echo "make static: a program with sanitizers is not static" >&2; exit 1;) $(CC) \
		-static -s -Wl,--gc-sections,--fatal-warnings $(CFLAGS) $(LDFLAGS) -o $@ $^ $(STATIC_ARCHIVES:%=-l%)

# LINKED_FUNCTIONS(FN) names each function that is asked for. After the preprocessor a row is { "NAME", ... }.
$(BUILD)/static/functions.h: $(BUILD)/program.a
	@mkdir -p $(@D)
	$(Q)for file in $(STATIC_CALLERS); do \
		$(CC) $(BASE_FLAGS) $(CPPFLAGS) $(CFLAGS) -include src/util/banned.h -E -P $$file || exit 1; done > $@.i
	$(Q){ echo '$(hash)define LINKED_FUNCTIONS(FN) \'; tr -d '\n' < $@.i | \
		grep -o 'struct library_symbol [a-z_]*\[\] = {[^;]*};' | grep -o '{ *"[^"]*"' | tr -d '{ "' | sort -u | \
		sed 's/.*/	FN(&) \\/'; echo; } > $@
$(BUILD)/src/util/library_static.o: $(BUILD)/static/functions.h

# Archives come with a distribution's packages, as Debian's, or do not: then nothing can be built.
$(BUILD)/static/archives: force
	@mkdir -p $(@D)
	@[ -z '$(STATIC_MISSING)' ] || \
		{ echo 'make static: not installed: $(STATIC_MISSING). What to do: make deps' >&2; exit 1; }

# ---- the library for other languages ----
# Where tests find them, also those without rights: the library, the module of Python, and what tests/bindings/build makes of
# the tests of Go and Rust, where these are installed.
BINDINGS := $(BUILD)/tests/library/bindings
PYTHON_FILES := $(sort $(wildcard $(addprefix src/bindings/python/,*.py *.toml examples/*.py)))
GO_FILES := $(sort $(wildcard $(addprefix src/bindings/go/,go.mod *.go examples/*/*.go)))
RUST_FILES := $(sort $(wildcard $(addprefix src/bindings/rust/,Cargo.toml $(addprefix */,Cargo.toml build.rs src/*.rs \
	tests/*.rs examples/*.rs))))
BINDING_TESTS := $(BINDINGS)/$(LIBRARY_SO) $(PYTHON_FILES:src/bindings/%=$(BINDINGS)/%) $(BINDINGS)/go.built $(BINDINGS)/rust.built
$(BINDINGS)/$(LIBRARY_SO): $(BUILD)/library/$(LIBRARY_SO)
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(BINDINGS)/python/%: src/bindings/python/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(BINDINGS)/go.built: $(GO_FILES)
$(BINDINGS)/rust.built: $(RUST_FILES)
$(BINDINGS)/%.built: tests/bindings/build $(BUILD)/library/$(LIBRARY_SO) $(BUILD)/library/include/libpstat.h \
		$(BUILD)/library/uninstalled/pstat.pc $(BINDINGS)/compilers
	@echo "  BINDING $*"
	$(Q)tests/bindings/build $* $(BUILD)/library $(@D)
	$(Q)touch $@
# What was left out is built when its compiler is there.
$(BINDINGS)/compilers: force
	@mkdir -p $(@D)
	@$(call write_if_new,$(shell command -v go; command -v rustc))
$(BUILD)/library/uninstalled/pstat.pc: Makefile
	@mkdir -p $(@D)
	@printf '%s\n' 'Name: pstat' 'Description: the library as it is built, for tests' 'Version: $(VERSION)' \
		'Libs: -L$(abspath $(BUILD))/library -lpstat' 'Cflags: -I$(abspath $(BUILD))/library/include' > $@

# ---- tests ----
# cmocka.h wants these before it. Version 2 deprecates names of version 1, which has no others.
BEFORE_CMOCKA := -include stdarg.h -include stddef.h -include setjmp.h -include stdint.h -DCMOCKA_DISABLE_DEPRECATION_WARNINGS
# Unit tests are built more than they are run: not optimised they compile in a third of the time. What they test is
# optimised all the same. Not so those whose own frames are unwound, or that simulate.
OPTIMISED_TESTS := test_unwind test_unwind_parts test_unwind_steps test_coverage test_compare_chance test_estimate test_significance
# This one asks about its own variables, whatever the level of CFLAGS' debug information.
unit_flags = $(if $(filter $(OPTIMISED_TESTS),$1),,-O0 -U_FORTIFY_SOURCE) $(if $(filter test_types,$1),-g2)
$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags | $(BUILD)/libs
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(COMPILE) $(if $(filter unit/%,$*),$(call unit_flags,$(*F))) -Itests \
		$(if $(filter unit/% bench/unwind_cost,$*),$(BEFORE_CMOCKA)) -c -o $@ $<

$(UNIT_TESTS): %: %.o $(BUILD)/program.a
	$(Q)$(LINK) -o $@ $^ $(LDLIBS) -lm -lcmocka

$(BENCHES): %: %.o $(BUILD)/program.a
	$(Q)$(LINK) -o $@ $^ $(LDLIBS) -lm $(if $(filter unwind_cost,$(@F)),-lcmocka)

$(GOLDEN): $(GOLDEN_OBJECTS) $(BUILD)/program.a
	$(Q)$(LINK) -o $@ $^ $(LDLIBS) -lm

# pstat on a scripted kernel: the same program with another main(), see tests/fake/.
$(BUILD)/pstat-fake: $(FAKE_OBJECTS) $(BUILD)/tests/fake/renamed_main.o $(BUILD)/program.a
	@echo "  LINK    $@"
	$(Q)$(LINK) -o $@ $^ $(LDLIBS) -lm

$(BUILD)/tests/fake/renamed_main.o: src/main.c $(BUILD)/flags | $(BUILD)/libs
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -Wno-missing-prototypes -Dmain=pstat_unused_main -c -o $@ $<

# Small programs that know what they do: neither optimised nor sanitized, so that they do what
# their text says and no more.
$(WORKLOADS): $(BUILD)/tests/work/%: tests/work/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) $(CPPFLAGS) -O0 -g -MMD -MP -o $@ $< $(LDFLAGS) -lpthread

$(FUZZERS): %: %.o $(BUILD)/program.a
	$(Q)$(CC) -fsanitize=fuzzer,address,undefined $(LLD) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lm

test-programs: $(BUILD)/pstat $(if $(SANITIZE)$(STATIC_MISSING),,$(BUILD)/static/pstat) $(LIBRARY_PROGRAMS) $(if $(FAKE_OBJECTS),$(BUILD)/pstat-fake) $(UNIT_TESTS) $(WORKLOADS) $(GOLDEN)

# TESTS='unit cli/stat*' runs only those; TEST_CC compiles the programs that tests look at.
TEST_CC ?= $(CC)
check: all test-programs $(if $(SANITIZE),,$(BENCHES))
	@BUILD='$(BUILD)' CC='$(TEST_CC)' tests/run $(TESTS)

lint: all test-programs
	@BUILD='$(BUILD)' CC='$(CC)' tests/run lint

# What has threads: the recorder's, and whoever works beside it. A pattern that matches nothing is no mistake.
THREADED_TESTS := unit/test_*reader* unit/test_consumer* unit/test_stages unit/test_unwind_stage \
	unit/test_unwind_files unit/test_frames_prefetch unit/test_live_source unit/test_sink* unit/test_buildid* unit/test_helper* \
	unit/test_remote* cli/record_threads cli/record_pressure cli/live_unwind
# Of unit tests only these are built. The sanitizer wants the addresses where it expects them, which newer kernels spread wider.
check-threads: TESTS := $(or $(TESTS),$(THREADED_TESTS))
check-threads:
	@TEST_USERS=own setarch -R $(MAKE) --no-print-directory SANITIZE=thread check TESTS='$(TESTS)' \
		UNIT_NAMES='$(or $(patsubst unit/%,%,$(filter unit/%,$(TESTS))),test_*)'

# Builds pstat once more, for arm64, into LAB. Skipped where QEMU or the packages can't be had.
LAB ?= build/lab
check-lab: $(BUILD)/pstat
	+@MAKE='$(MAKE)' tests/lab/prepare '$(LAB)'
	@BUILD='$(BUILD)' LAB='$(LAB)' tests/run lab

# Writes the recordings in tests/golden anew, see tests/golden/make_recordings.c.
golden: $(GOLDEN)
	$(GOLDEN) tests/golden

# libFuzzer comes with clang, whatever CC is.
FUZZ_SANITIZE := fuzzer-no-link,address,undefined
fuzz: all $(WORKLOADS)
	@CORPUS_BUILD='$(abspath $(BUILD))' $(MAKE) --no-print-directory CC=clang SANITIZE=$(FUZZ_SANITIZE) fuzz-run

fuzz-programs: $(FUZZERS)

fuzz-run: fuzz-programs
	@BUILD='$(BUILD)' FUZZ_SECONDS='$(FUZZ_SECONDS)' tests/run fuzz

# An hour and more, which nobody has to wait for after each change. Without clang the fuzzers are skipped.
LONG_SECONDS ?= 600
check-long: all test-programs $(BENCHES)
	@! command -v clang >/dev/null || \
		$(MAKE) --no-print-directory CC=clang SANITIZE=$(FUZZ_SANITIZE) fuzz-programs
	@BUILD='$(BUILD)' CORPUS_BUILD='$(abspath $(BUILD))' CC='$(CC)' LONG_SECONDS='$(LONG_SECONDS)' \
		FUZZ_BUILD='$(CURDIR)/build/clang-$(subst $(comma),-,$(FUZZ_SANITIZE))' tests/run $(or $(TESTS),long)

bench: all test-programs $(BENCHES)
	@BUILD='$(BUILD)' PSTAT='$(abspath $(BUILD)/pstat)' tests/bench/run

# ---- set-up and show ----
deps:
	@.ci/deps

DEMO_JOB := $(CC) -std=gnu11 -D_GNU_SOURCE -Isrc -O2 -c src/util/str.c -o $(BUILD)/demo.o
DEMO := $(BUILD)/demo
# A compiler that takes its answer from a cache has nothing to show.
show = echo; echo '$$ $(strip $1)'; CCACHE_DISABLE=1 $1
demo: all
	@echo; echo "How much work is it to compile one file of pstat?"
	@$(call show, ./pstat -- $(DEMO_JOB))
	@echo; echo "Where does the time go?"
	@$(call show, ./pstat record --call-graph dwarf -o $(DEMO).data -- $(DEMO_JOB))
	@$(call show, ./pstat report -q --stdio --no-children -g none -s comm$(comma)dso --percent-limit 1 -i $(DEMO).data)
	@$(call show, ./pstat report -q --flamegraph=$(DEMO).html -i $(DEMO).data)
	@echo; echo 'The flame graph, for any browser: file://$(abspath $(DEMO).html)'

# What the shells find by themselves; made by the program.
COMPLETIONS := bash zsh fish
completion_of_bash = $(DESTDIR)$(COMPLETIONDIR)/pstat
completion_of_zsh = $(DESTDIR)$(ZSHCOMPLETIONDIR)/_pstat
completion_of_fish = $(DESTDIR)$(FISHCOMPLETIONDIR)/pstat.fish

# A dashboard for Grafana and a unit for systemd, which has the place of the program.
install-exporter: $(BUILD)/pstat
	$(INSTALL) -d '$(DESTDIR)$(DATADIR)' '$(DESTDIR)$(UNITDIR)'
	$(INSTALL) -m 644 src/exporter/share/pstat-grafana.json '$(DESTDIR)$(DATADIR)/pstat-grafana.json'
	sed 's,@BINDIR@,$(BINDIR),' src/exporter/share/pstat-exporter.service.in > $(BUILD)/pstat-exporter.service
	$(INSTALL) -m 644 $(BUILD)/pstat-exporter.service '$(DESTDIR)$(UNITDIR)/pstat-exporter.service'

install: $(BUILD)/pstat $(COMPLETIONS:%=install-completion-%) install-exporter $(if $(SANITIZE),,install-library)
	$(INSTALL) -d '$(DESTDIR)$(BINDIR)' $(MAN_SECTIONS:%='$(DESTDIR)$(MANDIR)/man%')
	$(INSTALL) -m 755 $(BUILD)/pstat '$(DESTDIR)$(BINDIR)/pstat'
	$(foreach section,$(MAN_SECTIONS),$(INSTALL) -m 644 $(filter %.$(section),$(MAN_PAGES)) \
		'$(DESTDIR)$(MANDIR)/man$(section)' &&) :

# Each function of the library has an entry of its own in the manual, function:page, by the overview in libpstat(3).
FUNCTION_ENTRIES = $(shell awk '/^\.SH FUNCTIONS/ { on = 1 } /^\.SH FILES/ { on = 0 } \
	on && /^\.B this page/ { page = "libpstat" } on && /^\.BR pstat_[a-z_]+ \(3\)/ { page = $$2 } \
	on && /^\.BR pstat_[a-z_]+ \(\)/ && $$2 != page { print $$2 ":" page }' man/libpstat.3)
EXAMPLE_FILES := $(sort $(wildcard tests/examples/*.c tests/examples/*.cc))

install-library: $(LIBRARY_FILES)
	$(INSTALL) -d '$(DESTDIR)$(LIBDIR)/pkgconfig' '$(DESTDIR)$(INCLUDEDIR)' '$(DESTDIR)$(MANDIR)/man3' \
		'$(DESTDIR)$(EXAMPLESDIR)'
	@for entry in $(FUNCTION_ENTRIES); do \
		printf '.so man3/%s.3\n' "$${entry#*:}" > '$(DESTDIR)$(MANDIR)/man3/'"$${entry%%:*}.3" || exit 1; done
	$(INSTALL) -m 644 $(EXAMPLE_FILES) '$(DESTDIR)$(EXAMPLESDIR)'
	$(INSTALL) -m 644 $(BUILD)/library/libpstat.a '$(DESTDIR)$(LIBDIR)/libpstat.a'
	$(INSTALL) -m 755 $(BUILD)/library/$(LIBRARY_SO) '$(DESTDIR)$(LIBDIR)/$(LIBRARY_SO)'
	ln -sf $(LIBRARY_SO) '$(DESTDIR)$(LIBDIR)/libpstat.so'
	$(INSTALL) -m 644 $(BUILD)/library/pstat.pc '$(DESTDIR)$(LIBDIR)/pkgconfig/pstat.pc'
	$(INSTALL) -m 644 src/count/libpstat.h '$(DESTDIR)$(INCLUDEDIR)/libpstat.h'

# Sources of the library for other languages, and the module of Python alone where Python looks for it.
BINDINGDIR ?= $(PREFIX)/share/pstat/bindings
PYTHONDIR ?= $(shell python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
install-bindings:
	$(foreach file,$(PYTHON_FILES) $(GO_FILES) $(RUST_FILES),$(INSTALL) -D -m 644 $(file) \
		'$(DESTDIR)$(BINDINGDIR)/$(file:src/bindings/%=%)' &&) :

install-python:
	$(INSTALL) -D -m 644 src/bindings/python/pstat.py '$(DESTDIR)$(PYTHONDIR)/pstat.py'

uninstall-python:
	rm -f '$(DESTDIR)$(PYTHONDIR)/pstat.py'

install-completion-%: $(BUILD)/pstat
	@if $(BUILD)/pstat completion $* > $(BUILD)/completion.$*; then \
		echo "$(INSTALL) -D -m 644 $(BUILD)/completion.$* '$(completion_of_$*)'"; \
		$(INSTALL) -D -m 644 $(BUILD)/completion.$* '$(completion_of_$*)'; \
	else echo "$* completion is left out: $(BUILD)/pstat does not run here" >&2; fi

uninstall:
	rm -f '$(DESTDIR)$(DATADIR)/pstat-grafana.json' '$(DESTDIR)$(UNITDIR)/pstat-exporter.service'
	rm -f '$(DESTDIR)$(BINDIR)/pstat' $(foreach shell,$(COMPLETIONS),'$(completion_of_$(shell))')
	rm -f $(foreach page,$(MAN_PAGES:man/%=%),'$(DESTDIR)$(MANDIR)/man$(patsubst .%,%,$(suffix $(page)))/$(page)')
	@for entry in $(FUNCTION_ENTRIES); do rm -f '$(DESTDIR)$(MANDIR)/man3/'"$${entry%%:*}.3"; done
	rm -f $(EXAMPLE_FILES:tests/examples/%='$(DESTDIR)$(EXAMPLESDIR)/%')
	rm -f '$(DESTDIR)$(INCLUDEDIR)/libpstat.h' \
		$(foreach file,libpstat.a libpstat.so $(LIBRARY_SO) pkgconfig/pstat.pc,'$(DESTDIR)$(LIBDIR)/$(file)')
	rm -f $(foreach file,$(PYTHON_FILES) $(GO_FILES) $(RUST_FILES),'$(DESTDIR)$(BINDINGDIR)/$(file:src/bindings/%=%)')

# ---- releases ----
DIST ?= build/dist
dist:
	@src/packaging/dist '$(VERSION)' '$(DIST)'

# Packages are made of the tarball, as the distribution's tools build, not as this make was called.
RELEASE ?= 1
PACKAGES ?= build
NOT_OF_PACKAGES := MAKEFLAGS MAKELEVEL MFLAGS CC CROSS BUILD SANITIZE DEVELOPER PREFIX
deb rpm apk: dist
	@env $(NOT_OF_PACKAGES:%=-u %) src/packaging/$@ '$(VERSION)' '$(RELEASE)' '$(DIST)/pstat-$(VERSION).tar.xz' '$(PACKAGES)/$@'

release-check:
	@src/packaging/release-check '$(VERSION)'

clean:
	rm -rf build pstat

# For tests/run and the lints when they are started by hand.
print-%:
	@echo '$($*)'

force:
.PHONY: all static library install-library install-exporter install-bindings install-python uninstall-python check check-long check-lab check-threads lint golden fuzz fuzz-programs fuzz-run bench deps demo install uninstall dist deb rpm apk release-check clean test-programs force
.DELETE_ON_ERROR:
# Objects of test programs are kept: they would be rebuilt each time.
.SECONDARY:

-include $(OBJECTS:.o=.d) $(ONLY_LIBRARY:%.c=$(BUILD)/src/%.d) $(STATIC_OBJECTS:.o=.d) $(FAKE_OBJECTS:.o=.d) $(UNIT_TESTS:=.d) \
	$(WORKLOADS:=.d) $(BENCHES:=.d) $(GOLDEN_OBJECTS:.o=.d) $(FUZZERS:=.d) $(BUILD)/tests/fake/renamed_main.d

endif # no AFTER_DEPS
