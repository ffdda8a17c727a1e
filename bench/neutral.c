/* The other end of each measurement: an agent and a client that write ready-made bytes and look for a few marks in what
 * they read, so that the program under test is never waiting for them.
 *
 *   neutral agent                                     an agent on stdin and stdout, v1 or v2 as the client asks
 *   neutral client VERSION JOB [A [B]] -- COMMAND...   starts COMMAND, gives it a job, prints one JSON line of figures
 *
 * Jobs: start | stream COUNT SIZE | roundtrip COUNT IN_FLIGHT | large BYTES. A job is a prompt such as "stream 20000 32",
 * which agents under test understand; "large" is one prompt of that many bytes. CPU and memory figures are of COMMAND's
 * process and need Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READ_SIZE = 1 << 16, SHORT_LINE = 1024, BLOCK = 1 << 16, PATIENCE_SECONDS = 120 };

typedef struct {
    char *data;
    size_t start, end, size, scanned;
    int fd;
} Reader;

typedef struct {
    char *data;
    size_t length, size;
} Buffer;

static void die(const char *what, const char *line, size_t length) {
    fprintf(stderr, "neutral: %s: %.*s\n", what, (int)(length > 500 ? 500 : length), line ? line : "");
    exit(1);
}

static double seconds(clockid_t clock) {
    struct timespec t;
    if (clock_gettime(clock, &t)) return -1;
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void write_all(int fd, const char *data, size_t length) {
    while (length) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) die("write failed", strerror(errno), 80);
        data += n;
        length -= (size_t)n;
    }
}

static void append(Buffer *b, const char *data, size_t length) {
    if (b->length + length > b->size) {
        b->size = (b->length + length) * 2;
        b->data = realloc(b->data, b->size);
    }
    memcpy(b->data + b->length, data, length);
    b->length += length;
}

#define APPEND(b, text) append(b, text, sizeof(text) - 1)

/* The next whole line without its end, or NULL when all that was read is used up. */
static char *next_line(Reader *r, size_t *length) {
    char *from = r->data + r->scanned;
    char *stop = r->scanned < r->end ? memchr(from, '\n', r->end - r->scanned) : NULL;
    if (!stop) {
        r->scanned = r->end;
        return NULL;
    }
    char *line = r->data + r->start;
    *length = (size_t)(stop - line);
    r->start = r->scanned = (size_t)(stop - r->data) + 1;
    return line;
}

/* Reads once; false at the end of input. */
static bool fill(Reader *r) {
    if (r->start) {
        memmove(r->data, r->data + r->start, r->end - r->start);
        r->end -= r->start;
        r->scanned -= r->start;
        r->start = 0;
    }
    if (r->size - r->end < READ_SIZE) {
        r->size = r->size ? r->size * 2 : READ_SIZE * 4;
        r->data = realloc(r->data, r->size);
    }
    ssize_t n;
    do n = read(r->fd, r->data + r->end, r->size - r->end);
    while (n < 0 && errno == EINTR);
    if (n <= 0) return false;
    r->end += (size_t)n;
    return true;
}

static bool has(const char *line, size_t length, const char *mark) {
    return memmem(line, length, mark, strlen(mark)) != NULL;
}

/* Where the value of a member begins: the first `"name":` of the line, blanks skipped. */
static const char *value_of(const char *line, size_t length, const char *name) {
    char mark[64];
    int n = snprintf(mark, sizeof mark, "\"%s\":", name);
    const char *found = memmem(line, length, mark, (size_t)n);
    if (!found) return NULL;
    for (found += n; *found == ' '; found++) {}
    return found;
}

/* A number or string exactly as it stands on the wire. */
static size_t token(const char *value) {
    const char *end = value;
    if (*end == '"') {
        for (end++; *end != '"' || end[-1] == '\\'; end++) {}
        return (size_t)(end - value) + 1;
    }
    return strcspn(value, ",} ");
}

static void answer(Buffer *out, const char *line, size_t length, const char *result) {
    const char *id = value_of(line, length, "id");
    if (!id) die("a request without an id", line, length);
    APPEND(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    append(out, id, token(id));
    APPEND(out, ",\"result\":");
    append(out, result, strlen(result));
    APPEND(out, "}\n");
}

static void flush(int fd, Buffer *out) {
    write_all(fd, out->data, out->length);
    out->length = 0;
}

/* --- Agent --------------------------------------------------------------------------------------------------------- */

static int version = 1;

static void update(Buffer *out, const char *body) {
    APPEND(out, "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":");
    append(out, body, strlen(body));
    APPEND(out, "}}}\n");
}

static void chunk(Buffer *out, size_t size) {
    APPEND(out, "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":"
                "\"agent_message_chunk\",\"messageId\":\"m\",\"content\":{\"type\":\"text\",\"text\":\"");
    char *text = malloc(size);
    memset(text, 'x', size);
    append(out, text, size);
    free(text);
    APPEND(out, "\"}}}}\n");
}

static void stream(long count, size_t size) {
    Buffer block = {0};
    chunk(&block, size);
    size_t line = block.length;
    long in_block = 1;
    while (in_block < count && block.length + line < BLOCK) {
        chunk(&block, size);
        in_block++;
    }
    for (; count > 0; count -= in_block) {
        write_all(1, block.data, line * (size_t)(count < in_block ? count : in_block));
    }
    free(block.data);
}

static void ask(Buffer *out, long id) {
    char head[64];
    int n = snprintf(head, sizeof head, "{\"jsonrpc\":\"2.0\",\"id\":%ld,", id);
    append(out, head, (size_t)n);
    APPEND(out, "\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s\",");
    if (version == 2) APPEND(out, "\"title\":\"Write a file\",\"subject\":{\"type\":\"tool_call\",");
    APPEND(out, "\"toolCall\":{\"toolCallId\":\"c\",\"title\":\"Write a file\"}");
    if (version == 2) APPEND(out, "}");
    APPEND(out, ",\"options\":[{\"optionId\":\"allow\",\"name\":\"Allow\",\"kind\":\"allow_once\"},"
                "{\"optionId\":\"reject\",\"name\":\"Reject\",\"kind\":\"reject_once\"}]}}\n");
}

/* Asks for permission `count` times with `in_flight` questions open; nothing else may come in meanwhile. */
static void ask_often(Reader *in, Buffer *out, long count, long in_flight) {
    long sent = 0, open = 0;
    while (sent < count || open) {
        for (; sent < count && open < in_flight; sent++, open++) ask(out, sent);
        flush(1, out);
        size_t length;
        if (!fill(in)) exit(0);
        while (next_line(in, &length)) open--;
    }
}

static void turn(Reader *in, Buffer *out, const char *line, size_t length) {
    long count = 0, size = 0;
    const char *text = value_of(line, length, "text");
    if (!text) die("a prompt without text", line, length);
    bool asks = sscanf(text, "\"roundtrip %ld %ld", &count, &size) == 2;
    if (!asks && sscanf(text, "\"stream %ld %ld", &count, &size) != 2) count = 0;
    line = strndup(line, length); /* reading on moves what was read */
    if (version == 2) {
        answer(out, line, length, "{\"messageId\":\"u\"}"); /* newer drafts of version 2 ask for it */
        update(out, "\"user_message\",\"messageId\":\"u\",\"content\":[{\"type\":\"text\",\"text\":\"go\"}]");
        update(out, "\"state_update\",\"state\":\"running\"");
        flush(1, out);
    }
    if (asks) ask_often(in, out, count, size);
    else stream(count, (size_t)size);
    if (version == 2) update(out, "\"state_update\",\"state\":\"idle\",\"stopReason\":\"end_turn\"");
    else answer(out, line, length, "{\"stopReason\":\"end_turn\"}");
    free((char *)line);
}

static void serve(Reader *in, Buffer *out, const char *line, size_t length) {
    size_t head = length < SHORT_LINE ? length : SHORT_LINE;
    if (has(line, head, "session/prompt")) return turn(in, out, line, length);
    if (has(line, head, "session/list")) return answer(out, line, length, "{\"sessions\":[]}");
    if (has(line, head, "session/new")) return answer(out, line, length, "{\"sessionId\":\"s\"}");
    if (!has(line, head, "\"initialize\"")) return;
    const char *asked = value_of(line, length, "protocolVersion");
    version = asked && *asked == '2' ? 2 : 1;
    answer(out, line, length,
           version == 2 ? "{\"protocolVersion\":2,\"info\":{\"name\":\"neutral\",\"version\":\"1\"},\"capabilities\":{\"session\":{}}}"
                        : "{\"protocolVersion\":1,\"agentCapabilities\":{\"sessionCapabilities\":{\"list\":{}}}}");
}

static int run_agent(void) {
    Reader in = {.fd = 0};
    Buffer out = {0};
    char *line;
    size_t length;
    while (fill(&in)) {
        while ((line = next_line(&in, &length))) serve(&in, &out, line, length);
        if (out.length) flush(1, &out);
    }
    return 0;
}

/* --- Client -------------------------------------------------------------------------------------------------------- */

static Reader from_agent;
static int to_agent;
static pid_t agent;

static void start(char **command) {
    int down[2], up[2];
    if (pipe(down) || pipe(up)) die("pipe", strerror(errno), 80);
    agent = fork();
    if (!agent) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(down[0], 0);
        dup2(up[1], 1);
        for (int fd = 3; fd < 64; fd++) close(fd);
        execvp(command[0], command);
        die("cannot start", command[0], strlen(command[0]));
    }
    close(down[0]);
    close(up[1]);
    to_agent = down[1];
    from_agent.fd = up[0];
}

/* Reads until a line with the mark comes; a line that tells of an error ends the program. */
static char *wait_for(const char *mark, size_t *length) {
    for (;;) {
        char *line;
        while ((line = next_line(&from_agent, length))) {
            size_t head = *length < SHORT_LINE ? *length : SHORT_LINE;
            if (has(line, head, "\"error\":")) die("the agent answered with an error", line, *length);
            if (has(line, head, mark)) return line;
        }
        if (!fill(&from_agent)) die("the agent ended while waiting for", mark, strlen(mark));
    }
}

static long updates;

/* Sends a prompt and serves its turn to the end: counts chunks, allows what is asked. */
static void run_turn(const Buffer *prompt) {
    static Buffer out;
    updates = 0;
    write_all(to_agent, prompt->data, prompt->length);
    for (;;) {
        char *line;
        size_t length;
        bool over = false;
        while ((line = next_line(&from_agent, &length))) {
            size_t head = length < 256 ? length : 256;
            if (has(line, head, "\"session/update\"")) { /* where the kind stands depends on the writer */
                if (length >= SHORT_LINE || has(line, length, "agent_message_chunk")) updates++;
                else if (has(line, length, "\"stopReason\":")) over = true;
            } else if (has(line, head, "session/request_permission")) {
                updates++;
                answer(&out, line, length, "{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"allow\"}}");
            } else if (length < SHORT_LINE && has(line, length, "\"stopReason\":")) over = true;
            else if (has(line, head, "\"error\":")) die("the agent answered with an error", line, length);
        }
        if (out.length) flush(to_agent, &out);
        if (over) return;
        if (!fill(&from_agent)) die("the agent ended within a turn", NULL, 0);
    }
}

static long memory_kib(const char *field) {
    char path[64], line[256];
    long kib = -1;
    snprintf(path, sizeof path, "/proc/%d/status", agent);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status)) {
        if (!strncmp(line, field, strlen(field))) kib = atol(line + strlen(field) + 1);
    }
    if (status) fclose(status);
    return kib;
}

static Buffer prompt_of(int id, const char *session, size_t session_length, const char *text, size_t filler) {
    Buffer b = {0};
    char head[64];
    int n = snprintf(head, sizeof head, "{\"jsonrpc\":\"2.0\",\"id\":%d,", id);
    append(&b, head, (size_t)n);
    APPEND(&b, "\"method\":\"session/prompt\",\"params\":{\"sessionId\":");
    append(&b, session, session_length);
    APPEND(&b, ",\"prompt\":[{\"type\":\"text\",\"text\":\"");
    append(&b, text, strlen(text));
    if (filler) {
        char *padding = malloc(filler);
        memset(padding, 'x', filler);
        append(&b, padding, filler);
        free(padding);
    }
    APPEND(&b, "\"}]}}\n");
    return b;
}

static const char HELLO[2][400] = {
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1,\"clientCapabilities\":{\"fs\":"
    "{\"readTextFile\":true,\"writeTextFile\":true},\"terminal\":true},\"clientInfo\":{\"name\":\"neutral\",\"version\":\"1\"}}}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":2,\"capabilities\":{},\"info\":"
    "{\"name\":\"neutral\",\"version\":\"1\"}}}\n",
};
static const char NEW[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/tmp\",\"mcpServers\":[]}}\n";

static void finish(void) {
    close(to_agent);
    for (int i = 0; i < 100; i++) {
        if (waitpid(agent, NULL, WNOHANG)) return;
        usleep(10000);
    }
    kill(agent, SIGKILL);
}

static int run_client(int argc, char **argv) {
    int dashes = 2;
    while (dashes < argc && strcmp(argv[dashes], "--")) dashes++;
    if (dashes < 4 || dashes + 1 >= argc) die("usage: neutral client VERSION JOB [A [B]] -- COMMAND...", NULL, 0);
    version = atoi(argv[2]);
    const char *job = argv[3];
    long a = dashes > 4 ? atol(argv[4]) : 0, b = dashes > 5 ? atol(argv[5]) : 0;
    size_t length;

    double began = seconds(CLOCK_MONOTONIC);
    start(argv + dashes + 1);
    write_all(to_agent, HELLO[version - 1], strlen(HELLO[version - 1]));
    wait_for("\"result\":", &length);
    double start_ms = (seconds(CLOCK_MONOTONIC) - began) * 1e3;
    long rss = memory_kib("VmRSS");
    if (!strcmp(job, "start")) {
        printf("{\"start_ms\":%.2f,\"rss_mib\":%.1f}\n", start_ms, (double)rss / 1024);
        finish();
        return 0;
    }
    write_all(to_agent, NEW, sizeof NEW - 1);
    char *line = wait_for("\"sessionId\":", &length);
    const char *found = value_of(line, length, "sessionId");
    size_t session_length = token(found);
    char *session = strndup(found, session_length);

    char text[80];
    bool large = !strcmp(job, "large");
    if (!large) { /* a tenth of the job first, so that a just-in-time compiler is warm */
        snprintf(text, sizeof text, "%s %ld %ld", job, a / 10 + 1, b);
        Buffer warm = prompt_of(2, session, session_length, text, 0);
        run_turn(&warm);
    }
    snprintf(text, sizeof text, large ? "large " : "%s %ld %ld", job, a, b);
    Buffer prompt = prompt_of(3, session, session_length, text, large ? (size_t)a : 0);
    clockid_t cpu_clock;
    if (clock_getcpuclockid(agent, &cpu_clock)) cpu_clock = CLOCK_MONOTONIC;
    double cpu = seconds(cpu_clock), wall = seconds(CLOCK_MONOTONIC);
    run_turn(&prompt);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(cpu_clock) - cpu;
    printf("{\"seconds\":%.6f,\"cpu\":%.6f,\"count\":%ld,\"peak_mib\":%.1f}\n", wall, cpu, updates,
           (double)memory_kib("VmHWM") / 1024);
    finish();
    return 0;
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    alarm(PATIENCE_SECONDS);
    if (argc == 2 && !strcmp(argv[1], "agent")) return run_agent();
    if (argc > 2 && !strcmp(argv[1], "client")) return run_client(argc, argv);
    die("usage: neutral agent | neutral client VERSION JOB [A [B]] -- COMMAND...", NULL, 0);
}
