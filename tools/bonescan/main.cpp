#include "tools/bonescan/commands/command.h"

int main(int argc, char** argv) {
  return bonescan::run_command_line(argc, argv);
}
