#include "shapes.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace lit = std::literals;

namespace {

int depth = 0;

class Guard {
public:
    Guard() { ++depth; }
    ~Guard() { --depth; }
};

double cross(const shapes::Spot& a, const shapes::Spot& b) { return a.x * b.y - a.y * b.x; }

const std::map<std::string, shapes::Fill> fills = {
    {"none", shapes::Fill::None},
    {"solid", shapes::Fill::Solid},
    {"hatched", shapes::Fill::Hatched},
};

auto by_area = [](const shapes::Shape& a, const shapes::Shape& b) {
    return a.area() < b.area();
};

}  // namespace

namespace shapes {

template <typename T>
std::size_t detail::Hash<T>::operator()(const T& value) const
{
    return std::hash<T>{}(value);
}

Shape::~Shape()
{
    --made_;
}

void Shape::move(double x, double y)
{
    move(Spot{x, y});
}

void Shape::move(const Spot& by)
{
    Guard guard;
    steps_.emplace_back(centre(), centre() + by);
    on_change_(static_cast<int>(steps_.size()));
}

int Shape::made() { return made_; }

Shape::Step::Step(Spot from_, Spot to_)
    : from(from_),
      to(to_),
      number(1)
{
}

double Shape::Step::Timer::seconds() const
{
    return 0.5;
}

Circle::Circle(Spot centre, double radius)
try : Shape("circle"), centre_(centre), radius_(radius)
{
    SHAPES_CHECK(radius > 0);
}
catch (const std::logic_error&)
{
    throw;
}

Circle::~Circle() = default;

double Circle::area() const
{
    return pi * radius_ * radius_;
}

Spot Circle::centre() const noexcept { return centre_; }

Polygon::Polygon(Path corners) : Shape("polygon"), corners_(std::move(corners))
{
    if (corners_.size() < 3) {
        throw std::invalid_argument(R"(a polygon needs
    at least { three } corners)");
    }
}

template <typename Iterator>
Polygon::Polygon(Iterator first, Iterator last) : Polygon(Path(first, last))
{
}

double Polygon::area() const
{
    double sum = 0;
    for (std::size_t at = 0; at < corners_.size(); ++at) {
        sum += cross(corners_[at], corners_[(at + 1) % corners_.size()]);
    }
    return std::abs(sum) / 2;
}

Spot Polygon::centre() const noexcept
{
    auto add = [](Spot sum, const Spot& each) { return sum + each; };
    Spot sum = std::accumulate(corners_.begin(), corners_.end(), Spot{}, add);
    return {sum.x / static_cast<double>(corners_.size()), sum.y / static_cast<double>(corners_.size())};
}

Spot& Polygon::operator[](std::size_t at) { return corners_.at(at); }

const Spot& Polygon::operator[](std::size_t at) const
{
    return corners_.at(at);
}

Polygon& Polygon::operator+=(const Spot& corner)
{
    corners_.push_back(corner);
    return *this;
}

template <>
double square<double>(double value)
{
    return std::pow(value, 2);
}

double distance(const Spot& a, const Spot& b)
{
    return std::hypot(a.x - b.x, a.y - b.y);
}

double distance(const Spot& a, const Shape& b)
{
    return distance(a, b.centre());
}

auto longest(const Path& path) -> double
{
    double found = 0;
    for (std::size_t at = 1; at < path.size(); ++at) {
        found = std::max(found, distance(path[at - 1], path[at]));
    }
    return found;
}

namespace drawing::layers {

struct Layer {
    int level;
    std::vector<std::unique_ptr<Shape>> shapes;
} background, *current = &background;

int rounded(int a);

int count(const Layer& layer)
{
    return static_cast<int>(layer.shapes.size());
}

}  // namespace drawing::layers

}  // namespace shapes

int shapes::drawing::layers::rounded(int a)
{
    return a;
}

template class shapes::Ring<int, 4>;

extern "C" int shapes_version(void)
{
#if defined(SHAPES_OLD)
    if (depth) {
#else
    if (depth > 1) {
#endif
        return 1;
    }
    return 2;
}

extern "C" {

double shapes_area(const void* shape)
{
    return static_cast<const shapes::Shape*>(shape)->area();
}

}

[[gnu::noinline]] int shapes_made(void)
{
    return shapes::Shape::made();
}

#ifdef SHAPES_MAIN
int main()
#else
int shapes_main()
#endif
{
    shapes::Circle circle({1, 2}, 3);
    return circle.area() > 1 ? 0 : 1;
}
