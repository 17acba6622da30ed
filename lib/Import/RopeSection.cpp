//===- RopeSection.cpp - rope_scaling and rope_parameters -----------------===//
//
// Part of the moec project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rope scheme is written as `rope_scaling` with `type` or `rope_type`, or
// (since version 5 of the vendor's library) as `rope_parameters`, which may
// hold rope_theta too. A scheme that is there twice must be the same twice.
//
//===----------------------------------------------------------------------===//

#include "ConfigSections.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace moec;
using llvm::StringRef;

namespace {

struct RopeScheme {
  const JsonValue *object;
  std::optional<double> theta;
  std::optional<YarnScaling> yarn;
};

} // namespace

static constexpr RealRange positive = {0, std::numeric_limits<float>::max(),
                                       /*withMin=*/false};
static constexpr RealRange thetaRange = {1, std::numeric_limits<float>::max(),
                                         /*withMin=*/false};

/// The scheme's name under `type`, `rope_type` or both; none if it is wrong.
static std::optional<StringRef> readType(FieldReader &rope) {
  const JsonValue *type = rope.findSet("type");
  const JsonValue *ropeType = rope.findSet("rope_type");
  for (const JsonValue *value : {type, ropeType})
    if (value && value->kind != JsonKind::String) {
      rope.wrong("type", *value, "\"yarn\", \"deepseek_yarn\" or \"default\"");
      return std::nullopt;
    }
  if (type && ropeType && type->text != ropeType->text) {
    rope.error(*ropeType)
            .append("'rope_type' is ", describe(*ropeType), ", but 'type' is ",
                    describe(*type), "; expected the same or one of the two")
            .attachNote(rope.state.document.keyLoc(*type))
        << "'type' stands here";
    return std::nullopt;
  }
  const JsonValue *value = ropeType ? ropeType : type;
  if (value)
    return StringRef(value->text);
  // Without a type, only the base frequency may be given.
  for (const JsonValue &member : rope.object.children)
    if (member.key != "rope_theta" && !member.isNull()) {
      rope.error(rope.object) << "missing key 'rope_type' (or 'type'); "
                                 "expected \"yarn\", \"deepseek_yarn\" or "
                                 "\"default\"";
      return std::nullopt;
    }
  return StringRef("default");
}

static std::optional<YarnScaling> readYarn(FieldReader &rope) {
  YarnScaling yarn;
  constexpr RealRange mscaleRange = {0, 1e6};
  rope.read("factor", yarn.factor, {1, 1e9}, Presence::Required);
  rope.read("beta_fast", yarn.beta_fast, positive, Presence::Optional);
  rope.read("beta_slow", yarn.beta_slow, positive, Presence::Optional);
  rope.read("mscale", yarn.mscale, mscaleRange, Presence::Optional);
  rope.read("mscale_all_dim", yarn.mscale_all_dim, mscaleRange,
            Presence::Optional);
  // A factor of 1 leaves every frequency and every scale as it is.
  bool scales = !rope.isGood({"factor"}) || yarn.factor > 1;
  rope.read("original_max_position_embeddings",
            yarn.original_max_position_embeddings, IntegerRange(),
            scales ? Presence::Required : Presence::Optional);
  if (rope.isGood({"beta_fast", "beta_slow"}) &&
      yarn.beta_fast < yarn.beta_slow)
    rope.error("beta_fast") << "'beta_fast' is " << plain(yarn.beta_fast)
                            << "; expected at least 'beta_slow', which is "
                            << plain(yarn.beta_slow);
  if (!scales)
    return std::nullopt;
  return yarn;
}

/// Keys that are not understood may change the result, so each is named.
static void warnAboutUnknown(FieldReader &rope, StringRef group,
                             StringRef type) {
  for (const JsonValue *member : rope.unusedMembers())
    if (!member->isNull())
      mlir::emitWarning(rope.state.document.keyLoc(*member))
          << "key " << quoteText(member->key) << " of '" << group
          << "' is not understood with rope type " << quoteText(type)
          << " and has no effect; elsewhere it may change results";
}

static std::optional<RopeScheme> readScheme(FieldReader &fields,
                                            StringRef group) {
  const JsonValue *object = fields.findSet(group);
  if (!object)
    return std::nullopt;
  if (object->kind != JsonKind::Object) {
    fields.wrong(group, *object, "an object or null");
    return std::nullopt;
  }
  if (object->children.empty())
    return std::nullopt;
  FieldReader rope(fields.state, *object, nullptr, group);
  RopeScheme scheme = {object, std::nullopt, std::nullopt};
  double theta = 0;
  rope.read("rope_theta", theta, thetaRange, Presence::Optional);
  if (theta > 0)
    scheme.theta = theta;
  double rotatedPart = 1;
  rope.read("partial_rotary_factor", rotatedPart, {1, 1}, Presence::Optional);
  std::optional<StringRef> type = readType(rope);
  if (!type)
    return scheme;
  if (*type == "yarn" || *type == "deepseek_yarn")
    scheme.yarn = readYarn(rope);
  else if (*type != "default")
    rope.wrong(
        "rope_type",
        *(rope.find("rope_type") ? rope.find("rope_type") : rope.find("type")),
        "\"yarn\", \"deepseek_yarn\" or \"default\"");
  warnAboutUnknown(rope, group, *type);
  return scheme;
}

static bool isSame(const std::optional<YarnScaling> &lhs,
                   const std::optional<YarnScaling> &rhs) {
  if (!lhs || !rhs)
    return !lhs && !rhs;
  return lhs->factor == rhs->factor && lhs->beta_fast == rhs->beta_fast &&
         lhs->beta_slow == rhs->beta_slow && lhs->mscale == rhs->mscale &&
         lhs->mscale_all_dim == rhs->mscale_all_dim &&
         lhs->original_max_position_embeddings ==
             rhs->original_max_position_embeddings;
}

void moec::readRope(FieldReader &fields, const Family &family) {
  ModelConfig &config = fields.state.config;
  bool failedBefore = fields.state.failed;
  fields.state.failed = false;
  std::optional<RopeScheme> scaling = readScheme(fields, "rope_scaling");
  std::optional<RopeScheme> parameters = readScheme(fields, "rope_parameters");
  bool schemesAreGood = !fields.state.failed;
  fields.state.failed |= failedBefore;

  if (scaling && parameters && schemesAreGood &&
      !isSame(scaling->yarn, parameters->yarn))
    fields.error(*parameters->object)
            .append("'rope_parameters' and 'rope_scaling' say different "
                    "things; expected the same or one of the two")
            .attachNote(fields.state.document.keyLoc(*scaling->object))
        << "'rope_scaling' stands here";
  if (scaling)
    config.yarn = scaling->yarn;
  if (parameters && parameters->yarn)
    config.yarn = parameters->yarn;
  // One name for the group, whichever spelling it has.
  if (parameters)
    config.addLocation("rope_scaling",
                       fields.state.document.keyLoc(*parameters->object));

  std::optional<double> inner;
  for (const std::optional<RopeScheme> &scheme : {scaling, parameters})
    if (scheme && scheme->theta) {
      inner = scheme->theta;
      config.addLocation(
          "rope_theta",
          fields.state.document.keyLoc(*scheme->object->find("rope_theta")));
    }
  bool isThere = fields.findSet("rope_theta");
  if (!isThere && inner) {
    config.rope_theta = *inner;
    return;
  }
  if (!isThere && family.ropeTheta) {
    config.rope_theta = *family.ropeTheta;
    mlir::emitWarning(fields.state.document.valueLoc(fields.object))
        << "missing key 'rope_theta': taking " << plain(*family.ropeTheta)
        << ", the default of the vendor's configuration class";
    return;
  }
  fields.read("rope_theta", config.rope_theta, thetaRange, Presence::Required);
  if (inner && fields.isGood({"rope_theta"}) && *inner != config.rope_theta)
    fields.error("rope_theta")
        << "'rope_theta' is " << plain(config.rope_theta)
        << ", but the rope parameters say " << plain(*inner)
        << "; expected the same or one of the two";
}
