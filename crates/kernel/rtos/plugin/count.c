/* A TCG plugin for QEMU: counts the instructions between two calls of `counter::mark`, from outside of the guest.
 *
 *     qemu-system-arm ... -plugin libcount.so,out=FILE
 *
 * FILE gets a line for each pair of calls: how many instructions were executed from the first one of the first mark up to the first one of
 * the second. What is declared here is of QEMU's qemu-plugin.h, which is not installed with QEMU everywhere, and has been the same from
 * QEMU 4.2 on. The version is that of the interface; another one is refused when the plugin is loaded. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef PLUGIN_VERSION
#define PLUGIN_VERSION 1
#endif

typedef uint64_t plugin_id;
struct tb;
struct insn;
enum { NO_REGISTERS = 0 };

int qemu_plugin_version = PLUGIN_VERSION;

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*translated)(plugin_id id, struct tb *block));
size_t qemu_plugin_tb_n_insns(const struct tb *block);
struct insn *qemu_plugin_tb_get_insn(const struct tb *block, size_t number);
const char *qemu_plugin_insn_symbol(const struct insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct insn *instruction);
void qemu_plugin_register_vcpu_insn_exec_cb(
    struct insn *instruction, void (*executed)(unsigned cpu, void *data), int registers, void *data);
int qemu_plugin_install(plugin_id id, const void *info, int count, char **arguments);

static FILE *out;
static uint64_t instructions, begun, mark;
static int counts;

static void executes(unsigned cpu, void *data)
{
    (void)cpu;
    (void)data;
    instructions++;
}

static void marks(unsigned cpu, void *data)
{
    (void)cpu;
    (void)data;
    if (counts)
        fprintf(out, "%llu\n", (unsigned long long)(instructions - begun));
    counts = !counts;
    begun = instructions;
    instructions++;
}

/* A call begins a block, so the first block of a mark begins with its first instruction; others may begin inside. */
static void translated(plugin_id id, struct tb *block)
{
    size_t number, all = qemu_plugin_tb_n_insns(block);

    (void)id;
    for (number = 0; number < all; number++) {
        struct insn *instruction = qemu_plugin_tb_get_insn(block, number);
        const char *symbol = number || mark ? NULL : qemu_plugin_insn_symbol(instruction);

        if (symbol && strstr(symbol, "counter4mark"))
            mark = qemu_plugin_insn_vaddr(instruction);
        qemu_plugin_register_vcpu_insn_exec_cb(
            instruction, mark && qemu_plugin_insn_vaddr(instruction) == mark ? marks : executes, NO_REGISTERS, NULL);
    }
}

int qemu_plugin_install(plugin_id id, const void *info, int count, char **arguments)
{
    (void)info;
    if (count != 1 || strncmp(arguments[0], "out=", 4) || !(out = fopen(arguments[0] + 4, "w")))
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
