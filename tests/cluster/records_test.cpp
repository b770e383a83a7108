// SPDX-License-Identifier: Apache-2.0
/// Addresses, names and data of nodes: what is accepted, and what a client that writes there can do.
#include "cluster/records.hpp"

#include <gtest/gtest.h>

#include "cluster/address.hpp"
#include "kgate/algorithms/cluster_words.hpp"

namespace kgate::detail::cluster {
namespace {

address parsed(std::string_view text) {
  address out;
  const gate_failure failure = parse_address(text, out);
  EXPECT_FALSE(failure) << failure.text;
  return out;
}

TEST(cluster_address, is_read) {
  EXPECT_EQ(parsed("zk://a").hosts, "a:2181");
  EXPECT_EQ(parsed("zk://a").root, "/kgate");
  EXPECT_EQ(parsed("zk://a,b:2182,10.0.0.1").hosts, "a:2181,b:2182,10.0.0.1:2181");
  EXPECT_EQ(parsed("zk://[::1]:2183,[fe80::1]").hosts, "::1:2183,fe80::1:2181");
  EXPECT_EQ(parsed("zk://a/").root, "/kgate");
  EXPECT_EQ(parsed("zk://a/x/y-z/").root, "/x/y-z");
  EXPECT_EQ(parsed("zk://a?session=2s").session.count(), 2000);
  EXPECT_EQ(parsed("zk://a/p?session=1500ms").session.count(), 1500);
  EXPECT_EQ(parsed("zk://a/p?session=1m").session.count(), 60'000);
}

TEST(cluster_address, is_refused) {
  for (const char* text : {"",
                           "a:2181",
                           "zk:/a",
                           "zk://",
                           "zk:///p",
                           "zk://a,,b",
                           "zk://a,",
                           "zk://a:0",
                           "zk://a:65536",
                           "zk://a:b",
                           "zk://a b",
                           "zk://a/p//q",
                           "zk://a/../q",
                           "zk://a/p q",
                           "zk://a?",
                           "zk://a?session=",
                           "zk://a?session=1ms",
                           "zk://a?session=1h",
                           "zk://a?session=99999999999s",
                           "zk://a?x=1",
                           "zk://[]",
                           "zk://[::1",
                           "zk://[::1]x",
                           "http://a"}) {
    address out;
    EXPECT_EQ(parse_address(text, out).code, gate_errc::bad_name) << text;
  }
}

TEST(cluster_names, that_are_refused_are_seen_whole) {
  using namespace std::string_literals;
  address out;
  EXPECT_EQ(parse_address("zk://a\0b"s, out).text.find("'zk://a\\x00b' is no address of an ensemble: 'a\\x00b' is no"),
            0U);
  EXPECT_EQ(check_name("a\0b"s).text.find("'a\\x00b' is no name of a gate"), 0U);
}

TEST(cluster_names, of_waiters) {
  const waiter_name one{request_name(0x1000abcd, 7), 12};
  EXPECT_EQ(one.node(), "w-1000abcd-7_0000000012");
  EXPECT_EQ(parse_waiter(one.node()), one);
  EXPECT_EQ(session_of(one.request), 0x1000abcdU);
  const waiter_name wrapped{one.request, -2147483647};
  EXPECT_EQ(parse_waiter(wrapped.node()), wrapped);
  for (const char* name : {"", "x", "w-", "w-1-2", "w-1-2_", "w-1-2_x", "w-1-2_12", "w--2_0000000001",
                           "w-g-2_0000000001", "w-1-x_0000000001", "w-1-2_99999999999", "0"})
    EXPECT_FALSE(parse_waiter(name)) << name;
  EXPECT_EQ(parse_slot("0"), 0);
  for (const char* name : {"", "00", "-1", "4095", "x", "1x", "99999999999"}) EXPECT_FALSE(parse_slot(name)) << name;
}

TEST(cluster_names, sequence_numbers_wrap_around) {
  EXPECT_LT(distance(2147483647, -2147483647), 0);
  EXPECT_GT(distance(-2147483648, 2147483647), 0);
  EXPECT_LT(distance(1, 2), 0);
  EXPECT_EQ(distance(5, 5), 0);
}

TEST(cluster_data, is_checked) {
  for (const bool paused : {false, true}) {
    const gate_reading read = read_gate_data(gate_data({make_gate_id(0x10ab, 3), 7, 4, paused, {}}));
    EXPECT_EQ(read.wrong, "");
    EXPECT_EQ(read.id, "10ab-3");
    EXPECT_EQ(read.slots, 7);
    EXPECT_EQ(read.created_with, 4);
    EXPECT_EQ(read.paused, paused);
  }
  EXPECT_EQ(read_gate_data("kgate gate 2\nid=1-1\nslots=1\n").wrong, "");
  for (const char* data :
       {"", "kgate", "kgate gate 1\nid=1-1\nslots=1\n", "kgate gate 3\nid=1-1\nslots=1\n", "kgate gate 2\nid=1-1\n",
        "kgate gate 2\nid=1-1\nslots=0\n", "kgate gate 2\nid=1-1\nslots=4096\n", "kgate gate 2\nid=1-1\nslots=x\n",
        "kgate gate 2x\nid=1-1\nslots=1\n", "kgate gate 2\nslots=1\n", "kgate gate 2\nid=/x-1\nslots=1\n",
        "kgate gate 2\nid=1-../x\nslots=1\n", "kgate gate 2\nid=1\nslots=1\n"})
    EXPECT_NE(read_gate_data(data).wrong, "") << data;
}

TEST(cluster_data, of_participants_cannot_reach_a_terminal) {
  const participant_data who{"w-1-2", "host\nslots=9", 3, "me", "rm\x1b[2J", 2};
  const participant_data read = read_participant(to_data(who));
  EXPECT_EQ(read.host, "host?slots=9");
  EXPECT_EQ(read.command, "rm?[2J");
  EXPECT_EQ(read.process, 3);
  EXPECT_EQ(read.weight, 2);
  EXPECT_EQ(read_participant("pid=x\nweight=-4\ncommand=\x1b]0;x\n").command, "?]0;x");
  EXPECT_EQ(read_participant("weight=-4\n").weight, 1);
}

}  // namespace
}  // namespace kgate::detail::cluster
